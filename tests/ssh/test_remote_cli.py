"""`tarmac -H ssh://gpu01 …` from a machine without a controller, through a real sshd."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tarmac.client import Client
from tests.home import BIN, until
from tests.services import need
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab
from tests.ssh.laptop import Laptop, interrupt


@pytest.fixture(scope="module")
def host(shared_lab: Lab) -> Host:
    """With `tarmac` in ~/.local/bin, which is not on the PATH of a login."""
    host = shared_lab.host("gpu01")
    for user in ("root", "alice", "bob"):
        host.install_tarmac(user)
    return host


@pytest.fixture
def laptop(shared_lab: Lab, host: Host, tmp_path: Path) -> Laptop:
    return Laptop(shared_lab, tmp_path)


def test_a_job_is_queued_listed_awaited_and_shown(laptop: Laptop, host: Host) -> None:
    job = laptop.add("-n", "first", "-c", "hostname; pwd")
    assert laptop("wait", str(job)).returncode == 0
    assert laptop("log", str(job)).stdout.split() == ["gpu01", str(host.home())]
    (row,) = json.loads(laptop("ls", "-a", "--json", str(job)).stdout)
    assert (row["name"], row["state"], row["owner"]) == ("first", "succeeded", "root")
    assert [gpu["index"] for gpu in json.loads(laptop("gpus", "--json").stdout)] == [0, 1]
    assert not (laptop.folder / "home").exists()  # no controller was started here


def test_the_option_may_follow_the_verb_and_the_variable_replaces_it(laptop: Laptop) -> None:
    job = laptop.add("true")
    for done in (
        laptop.tarmac("show", str(job), "--remote", "gpu01", "--json"),
        laptop.tarmac("-Hgpu01", "show", str(job), "--json"),
        laptop.tarmac("show", str(job), "--json", env={"TARMAC_HOST": "ssh://root@gpu01:22"}),
    ):
        assert [row["id"] for row in json.loads(done.stdout)] == [job], done.stderr
    assert laptop.tarmac("-H", "gpu01", "gpu", "drain", "1").returncode == 0
    assert laptop.tarmac("gpu", "resume", "1", "-H", "gpu01").returncode == 0


def test_run_shows_the_output_and_has_the_exit_code(laptop: Laptop) -> None:
    done = laptop("run", "--cwd", "~", "-c", "echo out; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n"), done.stderr


def test_ctrl_c_of_run_stops_the_job(laptop: Laptop, host: Host) -> None:
    with laptop.start(
        "run", "--cwd", "~", "-c", "trap 'echo stopping; exit 9' TERM; echo up; while :; do sleep .1; done"
    ) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "up\n"
        interrupt(run)
        out, err = run.communicate(timeout=60)
    assert "stopping\n" in out
    assert run.returncode == 9, err
    assert "asking job" in err
    assert until(lambda: not any("while :" in command for command in host.processes().values()))


def test_log_f_follows_a_job_until_its_end(laptop: Laptop, host: Host) -> None:
    gate = host.home() / "gate"
    job = laptop.add("-c", "echo first; until [ -e gate ]; do sleep .05; done; echo last")
    with laptop.start("log", "-f", str(job)) as log:
        assert log.stdout is not None
        assert log.stdout.readline() == "first\n"
        gate.touch()
        assert log.communicate(timeout=60)[0] == "last\n"
    assert log.returncode == 0
    gate.unlink()


def test_a_reader_that_stops_reading_ends_it_quietly(laptop: Laptop) -> None:
    job = laptop.add("-c", "seq 1 2000000")  # more than any buffer on the way holds
    assert laptop("wait", str(job)).returncode == 0
    line = f"{BIN}/tarmac -H ssh://gpu01 log --raw {job} | head -n 2"
    done = subprocess.run(["bash", "-c", line], env=laptop.environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1\n2\n", "")
    whole = laptop("log", "--raw", str(job)).stdout
    assert len(whole) == sum(len(str(number)) + 1 for number in range(1, 2000001))


def test_kill_reaches_the_process(laptop: Laptop, host: Host) -> None:
    job = laptop.add("sleep", "4567")
    assert until(lambda: "sleep 4567" in host.processes().values())
    assert laptop("kill", str(job)).returncode == 0
    assert until(lambda: "sleep 4567" not in host.processes().values())
    assert laptop("wait", str(job)).returncode != 0


def test_one_login_serves_a_whole_command(laptop: Laptop, host: Host) -> None:
    def logins() -> int:
        return host.log.count("Accepted publickey")

    before = logins()
    with laptop.start("run", "--cwd", "~", "sleep", "5432") as run:
        assert until(lambda: "sleep 5432" in host.processes().values())
        interrupt(run)  # asks for another request, while the log is read
        run.communicate(timeout=60)
    assert logins() == before + 1


def test_the_environment_is_that_of_a_login_there(laptop: Laptop, host: Host) -> None:
    (laptop.folder / "vars.env").write_text("FROM_FILE=one\n")
    words = [
        "--env",
        "LAPTOP",
        "--env-file",
        "vars.env",
        "-c",
        "echo $HOME $LAPTOP $FROM_FILE; echo $XDG_CACHE_HOME $SSH_CLIENT",
    ]
    job = laptop.add(*words)
    assert laptop("wait", str(job)).returncode == 0
    assert laptop("log", str(job)).stdout == f"{host.home()} yes one\n\n"
    job = laptop.add("-c", "echo [$LAPTOP]")
    assert laptop("wait", str(job)).returncode == 0
    assert laptop("log", str(job)).stdout == "[]\n"


def test_a_directory_that_exists_only_here_is_refused_with_advice(laptop: Laptop) -> None:
    done = laptop("add", "true")
    assert done.returncode == 2
    assert f"{laptop.folder} is not a directory" in done.stderr
    assert "the job runs on gpu01: choose a directory there, such as --cwd '~'" in done.stderr


def test_a_snapshot_takes_the_code_along(laptop: Laptop, host: Host) -> None:
    code = laptop.folder / "code"
    code.mkdir()
    (code / "job.py").write_text("print(open('data.txt').read())\n")
    (code / "data.txt").write_text("from here")
    done = laptop("run", "--snapshot", "--log", "out.log", "python3", "job.py", cwd=code)
    assert (done.returncode, done.stdout) == (0, "from here\n"), done.stderr
    assert (host.home() / "out.log").read_text() == "from here\n"
    done = laptop("add", "--snapshot", "--link", "data.txt", "true", cwd=code)
    assert done.returncode == 2
    assert "--link leads to files of this machine" in done.stderr


def test_a_batch_is_read_here(laptop: Laptop) -> None:
    (laptop.folder / "jobs.txt").write_text("echo a\necho b\n")
    done = laptop("add", "--cwd", "~", "--batch", "jobs.txt", "--json")
    ids = json.loads(done.stdout)["ids"]
    assert laptop("wait", *map(str, ids)).returncode == 0
    assert [laptop("log", str(job)).stdout for job in ids] == ["a\n", "b\n"]


def test_verbs_about_files_of_the_controller_run_there(laptop: Laptop, host: Host) -> None:
    laptop.add("true")
    assert f"state directory: {host.home()}" in laptop("doctor").stdout
    assert "listens on" in laptop("log", "controller").stdout
    done = laptop("backup", 'it\'s \\ a "backup"!.tar.gz', "--json")
    assert done.returncode == 0, done.stderr
    assert (host.home() / 'it\'s \\ a "backup"!.tar.gz').exists()
    assert laptop("backup", "--bad").returncode == 2
    assert laptop("stop", "--json").returncode == 0
    assert until(lambda: not any("tarmac.controller" in command for command in host.processes().values()))
    assert "ssh gpu01 tarmac serve" in laptop("serve").stderr


def test_accounts_see_only_their_own_queue(laptop: Laptop, host: Host) -> None:
    job = laptop.add("-n", "of-alice", "-c", "id -un", host="ssh://alice@gpu01")
    assert laptop("wait", str(job), host="ssh://alice@gpu01").returncode == 0
    assert laptop("log", str(job), host="alice@gpu01").stdout == "alice\n"
    assert "of-alice" not in laptop("ls", "-a").stdout
    assert laptop("ls", "-a", "--json", host="ssh://bob@gpu01").stdout.strip() == "[]"


@pytest.mark.parametrize("shell", ["tcsh", "fish", "sh", "bash"])
def test_login_files_and_shells_do_not_matter(laptop: Laptop, host: Host, shell: str) -> None:
    need(shell)
    host.shell(shell, "bob")
    for name in (".bashrc", ".tcshrc", ".config/fish/config.fish"):
        host.write_rc(name, "echo noise\n", "bob")
    done = laptop("ls", "-a", "--json", host="bob@gpu01")
    assert done.stdout.strip() == "[]", done.stderr
    assert json.loads(laptop("doctor", "--json", host="bob@gpu01").stdout)


def test_the_page_is_forwarded_until_ctrl_c(laptop: Laptop) -> None:
    with laptop.start("web", "--no-open") as web:
        assert web.stdout is not None
        url = web.stdout.readline().strip()
        assert re.fullmatch(r"http://\S+/login#\S+", url)
        with urllib.request.urlopen(url.partition("#")[0], timeout=30) as answer:
            assert b"<html" in answer.read()
        interrupt(web)
        assert web.wait(60) == 130


def test_the_python_client(laptop: Laptop, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", laptop.environment["PATH"])
    with Client(host="ssh://gpu01") as client:
        job = client.submit(["sh", "-c", "pwd; echo done"], cwd="~")
        client.wait(job.id)
        assert b"".join(client.logs(job.id)).decode() == f"{host.home()}\ndone\n"
        assert client.gpus()[0].node == "gpu01"
    monkeypatch.setenv("TARMAC_HOST", "ssh://gpu01")
    with Client() as client:
        assert client.job(job.id).state == "succeeded"
    assert Client(host="").remote is None


def test_dial_stdio_is_a_plain_connection(laptop: Laptop, host: Host) -> None:
    request = "GET /api/v1/queue HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    words = ["ssh", "gpu01", f"{host.home()}/.local/bin/tarmac dial-stdio"]
    done = subprocess.run(words, env=laptop.environment, input=request, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("HTTP/1.1 200"), done.stderr
    assert done.stdout.endswith("}")
    events = "GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
    with subprocess.Popen(
        words, env=laptop.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as ssh:
        assert ssh.stdin is not None
        assert ssh.stdout is not None
        ssh.stdin.write(events)
        ssh.stdin.close()
        assert ssh.stdout.readline() == "HTTP/1.1 200 OK\n"
        assert any(command.endswith("tarmac dial-stdio") for command in host.processes().values())
        ssh.kill()
    assert until(lambda: not any("dial-stdio" in command for command in host.processes().values()))


def test_a_node_is_added_from_the_machine_of_the_controller(lab: Lab, tmp_path: Path) -> None:
    """The laptop reaches gpu01, whose account reaches gpu02."""
    gpu01, gpu02 = lab.host("gpu01"), lab.host("gpu02", gpus="3x80G")
    gpu01.install_tarmac()
    gpu01.write_rc(".ssh/id_ed25519", (lab.path / "key").read_text()).chmod(0o600)
    gpu01.write_rc(".ssh/known_hosts", f"gpu02 {gpu02.public_key}\n")
    laptop = Laptop(lab, tmp_path)
    done = laptop("node", "add", "gpu02")
    assert done.returncode == 0, done.stderr
    nodes = [gpu["node"] for gpu in json.loads(laptop("gpus", "--json").stdout)]
    assert sorted(nodes) == ["gpu01"] * 2 + ["gpu02"] * 3
