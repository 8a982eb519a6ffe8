"""What `tarmac -H` says and does when the other machine, the way to it or its accounts are not as they should be."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from tarmac.client import Client
from tarmac.client.remote import login
from tarmac.errors import Unavailable
from tests.home import BIN, is_connected, until
from tests.services import need
from tests.ssh.hosts import PASSWORD, Host
from tests.ssh.lab import Lab, make_key
from tests.ssh.laptop import Laptop, interrupt
from tests.terminal import Terminal

UNREACHABLE = 5


@pytest.fixture(scope="module")
def host(shared_lab: Lab) -> Host:
    host = shared_lab.host("gpu01")
    host.install_tarmac()
    return host


@pytest.fixture
def laptop(shared_lab: Lab, host: Host, tmp_path: Path) -> Laptop:
    return Laptop(shared_lab, tmp_path)


def refused(laptop: Laptop, host: str, code: int = UNREACHABLE, **options: object) -> str:
    done = laptop("ls", host=host, **options)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_host_that_does_not_exist(laptop: Laptop) -> None:
    message = refused(laptop, "ssh://no-such-host.invalid")
    assert message.startswith("tarmac: no-such-host.invalid cannot be reached:\n")
    assert "Could not resolve hostname" in message
    assert "check that `ssh no-such-host.invalid` works" in message


def test_a_port_on_which_nothing_listens(laptop: Laptop) -> None:
    message = refused(laptop, "ssh://gpu01:2222")
    assert "Connection refused" in message
    assert "`ssh -p 2222 gpu01`" in message


@pytest.mark.parametrize(
    "text", ["-oProxyCommand=touch x", "ssh://-oProxyCommand=x", "ssh://-v@gpu01", "http://gpu01", "ssh://"]
)
def test_a_wrong_address_is_refused_before_ssh_runs(laptop: Laptop, text: str) -> None:
    message = refused(laptop, text, code=2)
    assert "is not an address" in message
    assert "ssh://[USER@]HOST[:PORT]" in message
    assert list(laptop.folder.iterdir()) == []


def test_a_key_that_the_host_does_not_accept(shared_lab: Lab, laptop: Laptop, tmp_path: Path) -> None:
    make_key(tmp_path / "other")
    shared_lab.write_config(f"IdentityFile {tmp_path / 'other'}\nHost *\n")
    key = shared_lab.path / "key"
    key.rename(tmp_path / "hidden")
    try:
        message = refused(laptop, "gpu01")
    finally:
        (tmp_path / "hidden").rename(key)
        shared_lab.write_config()
    assert "gpu01 refused the login:" in message
    assert "Permission denied" in message


def test_an_unknown_host_key(shared_lab: Lab, laptop: Laptop) -> None:
    (shared_lab.path / "known_hosts").write_text("")
    try:
        message = refused(laptop, "gpu01")
    finally:
        shared_lab.write_known_hosts()
    assert "the host key of gpu01 is not known, so nothing was sent:" in message
    assert "Host key verification failed" in message


def test_a_changed_host_key(shared_lab: Lab, laptop: Laptop, host: Host) -> None:
    host.new_host_key()
    try:
        message = refused(laptop, "gpu01")
        code = laptop("doctor").returncode
    finally:
        shared_lab.write_known_hosts()
    assert "the host key of gpu01 has changed, so nothing was sent:" in message
    assert "ssh-keygen -R" in message
    assert code == UNREACHABLE


def test_no_tarmac_on_the_host(laptop: Laptop) -> None:
    message = refused(laptop, "alice@gpu01")
    assert "tarmac is not installed on alice@gpu01: neither on the PATH nor in ~/.local/bin" in message
    assert "TARMAC_REMOTE_COMMAND" in message
    done = laptop("doctor", host="alice@gpu01")
    assert done.returncode == UNREACHABLE
    assert "tarmac is not installed on alice@gpu01" in done.stderr


def test_tarmac_in_another_place(laptop: Laptop, host: Host) -> None:
    place = host.home() / ".local/bin/tarmac"
    moved = place.rename(host.home() / "other-tarmac")
    try:
        refused(laptop, "gpu01")
        done = laptop("ls", "--json", env={"TARMAC_REMOTE_COMMAND": str(moved)})
        assert done.stdout.strip() == "[]", done.stderr
    finally:
        moved.rename(place)
    message = refused(laptop, "gpu01", code=2, env={"TARMAC_REMOTE_COMMAND": "it's"})
    assert "TARMAC_REMOTE_COMMAND contains a quote" in message


def pretend(host: Host, **about: object) -> None:
    """A tarmac of bob's that says something else about itself."""
    said = {"version": "0.1.0", "api": 2, "home": "/", "umask": 18, "environment": {}, **about}
    script = f"#!/bin/sh\necho noise\necho \"$3\" '{json.dumps(said)}'\n"
    host.write_rc(".local/bin/tarmac", script, "bob").chmod(0o755)


def test_an_older_tarmac_there_is_named_and_refused(laptop: Laptop, host: Host) -> None:
    pretend(host, version="0.0.1", api=1)
    message = refused(laptop, "bob@gpu01", code=2)
    assert "bob@gpu01 has tarmac 0.0.1 (API 1), this machine 0.1.0 (API 2)" in message
    assert "upgrade tarmac on bob@gpu01" in message


def test_another_version_with_the_same_api_is_mentioned(laptop: Laptop, host: Host) -> None:
    code = f"#!{BIN}/python\nimport tarmac\ntarmac.__version__ = '0.9.9'\nfrom tarmac.cli.main import main\nmain()\n"
    host.write_rc(".local/bin/tarmac", code, "bob").chmod(0o755)
    done = laptop("ls", "--json", host="bob@gpu01")
    assert (done.returncode, done.stdout.strip()) == (0, "[]")
    assert done.stderr == "tarmac: bob@gpu01 has tarmac 0.9.9, this machine 0.1.0\n"


def test_a_tarmac_without_this_verb(laptop: Laptop, host: Host) -> None:
    host.write_rc(".local/bin/tarmac", "#!/bin/sh\necho 'tarmac: unknown verb dial-stdio' >&2\nexit 2\n", "bob").chmod(
        0o755
    )
    message = refused(laptop, "bob@gpu01")
    assert "bob@gpu01 ended the connection before tarmac answered:" in message
    assert "unknown verb dial-stdio" in message


def test_a_login_file_that_waits_for_input(laptop: Laptop, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.write_rc(".bashrc", "echo 'Which cluster?'; read answer\n", "alice")
    monkeypatch.setattr(login, "TOLD_EVERY_S", 0.2)
    monkeypatch.setattr(login.os, "isatty", lambda _: False)
    monkeypatch.setenv("PATH", laptop.environment["PATH"])
    for answer_s in (0.5, 2, 8, 30):  # a login takes long on a busy machine
        monkeypatch.setattr(login, "ANSWER_S", answer_s)
        with Client(host="ssh://alice@gpu01") as client, pytest.raises(Unavailable) as caught:
            client.status()
        assert caught.value.message.startswith("alice@gpu01 did not answer in time")
        if caught.value.message.endswith(":\nWhich cluster?"):
            break
    else:
        pytest.fail(caught.value.message)
    host.write_rc(".bashrc", "while :; do echo Which cluster?; sleep .01; done\n", "alice")
    with Client(host="ssh://alice@gpu01") as client, pytest.raises(Unavailable, match="did not answer in time"):
        client.status()
    host.write_rc(".bashrc", "", "alice")


def test_a_controller_that_cannot_start_says_why(laptop: Laptop, host: Host) -> None:
    host.install_tarmac("carol")
    host.write_rc(".config/tarmac/config.toml", "nonsense = 1\n", "carol")
    done = laptop("ls", host="carol@gpu01")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


def test_a_host_that_accepts_and_says_nothing_can_be_left_with_ctrl_c(laptop: Laptop, shared_lab: Lab) -> None:
    with socket.create_server((shared_lab.address, 0)) as silent:
        laptop.host = f"ssh://{shared_lab.address}:{silent.getsockname()[1]}"
        with laptop.start("ls") as listing:
            accepted, _ = silent.accept()
            ssh = until(lambda: children(listing.pid))
            assert ssh
            interrupt(listing)
            assert listing.wait(30) == 130
            accepted.close()
        assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in ssh))


def is_dialled(host: Host) -> bool:
    """A command has reached the controller."""
    return any("tarmac dial-stdio" in command and is_connected(pid) for pid, command in host.processes().items())


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_wait_continues_after_sshd_was_killed(laptop: Laptop, host: Host) -> None:
    gate = host.home() / "gate"
    job = laptop.add("-c", "until [ -e gate ]; do sleep .05; done; exit 6")
    with laptop.start("wait", str(job)) as waiting:
        assert until(lambda: is_dialled(host))
        host.kill_sshd()
        gate.touch()
        host.start_sshd()
        assert waiting.wait(90) == 6, waiting.communicate()
    gate.unlink()


def test_wait_survives_a_cut(laptop: Laptop, host: Host) -> None:
    gate = host.home() / "gate"
    job = laptop.add("-c", "until [ -e gate ]; do sleep .05; done; exit 6")
    with laptop.start("wait", str(job)) as waiting:
        assert until(lambda: is_dialled(host))
        host.cut()
        gate.touch()
        assert until(lambda: not any("until [" in command for command in host.processes().values()))
        host.heal()
        assert waiting.wait(90) == 6
    gate.unlink()


def test_log_f_continues_where_it_was_after_sshd_was_killed(laptop: Laptop, host: Host) -> None:
    gate = host.home() / "gate"
    job = laptop.add("-c", "seq 1 1000; until [ -e gate ]; do sleep .05; done; seq 1001 2000")
    with laptop.start("log", "-f", str(job)) as log:
        assert log.stdout is not None
        first = [log.stdout.readline() for _ in range(1000)]
        host.kill_sshd()
        gate.touch()
        host.start_sshd()
        rest, _ = log.communicate(timeout=90)
    assert [*first, *rest.splitlines(keepends=True)] == [f"{number}\n" for number in range(1, 2001)]
    gate.unlink()


def test_a_submit_whose_connection_breaks_is_carried_out_once(laptop: Laptop, host: Host) -> None:
    """sshd is killed while the request is on its way, or just before or after."""
    for number in range(4):
        name = f"once-{number}"
        with laptop.start("add", "--cwd", "~", "--name", name, "true") as adding:
            assert until(lambda: is_dialled(host) or adding.poll() is not None)
            host.kill_sshd()
            host.start_sshd()
            out, err = adding.communicate(timeout=90)
        found = [row["id"] for row in json.loads(laptop("ls", "-a", "--json", "--name", name).stdout)]
        assert (adding.returncode, found) == (0, [int(out)]), err


def test_a_configuration_for_people_does_no_harm(shared_lab: Lab, laptop: Laptop) -> None:
    """It opens a session in tmux and forwards ports, one of which is taken."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        extra = "Host gpu01\n  RemoteCommand tmux attach\n  RequestTTY force\n  ForwardAgent yes\n  ForwardX11 yes\n"
        shared_lab.write_config(f"{extra}  LocalForward {port} localhost:22\n  ExitOnForwardFailure yes\n")
        try:
            done = laptop("run", "--cwd", "~", "-c", "echo works")
        finally:
            shared_lab.write_config()
    assert (done.returncode, done.stdout) == (0, "works\n"), done.stderr


def test_the_control_socket_of_the_user_is_used_and_stays(shared_lab: Lab, laptop: Laptop, host: Host) -> None:
    path = shared_lab.path / "control"
    shared_lab.write_config(f"Host gpu01\n  ControlMaster auto\n  ControlPath {path}\n  ControlPersist yes\n")
    try:
        assert laptop("ls", "--json").returncode == 0
        logins = host.log.count("Accepted publickey")
        assert laptop("ls", "--json").returncode == 0
        assert host.log.count("Accepted publickey") == logins
        assert path.exists()
    finally:
        shared_lab.ssh("-O", "exit", "gpu01")
        shared_lab.write_config()


def test_a_shell_that_prints_what_it_runs(laptop: Laptop, host: Host) -> None:
    need("tcsh")
    host.install_tarmac("bob")
    host.shell("tcsh", "bob")
    host.write_rc(".tcshrc", "set echo\nset verbose\n", "bob")
    assert laptop("ls", "--json", host="bob@gpu01").stdout.strip() == "[]"


def test_a_verb_that_runs_there_has_a_terminal(laptop: Laptop, host: Host) -> None:
    with Terminal(laptop, "-H", "gpu01", "doctor") as doctor:  # type: ignore[arg-type]
        assert doctor.ends() == 0
        assert "\x1b[32m✓" in doctor.text
        assert f"{host.home()}" in doctor.text
        assert "closed" not in doctor.text
    with Terminal(laptop, "-H", "no-such-host.invalid", "doctor") as doctor:  # type: ignore[arg-type]
        assert doctor.ends() == UNREACHABLE
        assert "Could not resolve hostname" in doctor.text


def test_nothing_stays_on_the_host_after_a_killed_command(laptop: Laptop, host: Host) -> None:
    job = laptop.add("sleep", "6789")
    with laptop.start("log", "-f", str(job)) as log:
        assert until(lambda: is_dialled(host))
        log.kill()
    assert until(lambda: not any("dial-stdio" in command for command in host.processes().values()))
    assert laptop("kill", "--grace", "0", str(job)).returncode == 0


def test_a_password_is_asked_once_at_a_terminal(shared_lab: Lab, laptop: Laptop) -> None:
    host = shared_lab.host("gpu09", has_password=True)
    host.install_tarmac()
    shared_lab.write_config("Host gpu09\n  PubkeyAuthentication no\n")
    assert "Permission denied" in refused(laptop, "gpu09")
    job = f"{host.home()}/gone"
    with Terminal(laptop, "-H", "gpu09", "run", "--cwd", "~", "-c", f"echo up; sleep 7890; touch {job}") as typed:  # type: ignore[arg-type]
        assert typed.sees("password:")
        typed.type(f"{PASSWORD}\n".encode())
        assert typed.sees("up\r\n")
        typed.type(b"\x03")
        assert typed.ends() != 0
        assert typed.text.count("password:") == 1
        assert "asking job 1 to stop" in typed.text
    with Terminal(laptop, "-H", "gpu09", "ls") as typed:  # type: ignore[arg-type]
        assert typed.sees("password:")
        typed.type(b"\x03")
        assert typed.ends() == 130
    assert subprocess.run(["pgrep", "-f", f"{shared_lab.path}/config.*gpu09"], capture_output=True).stdout == b""
