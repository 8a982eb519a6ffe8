"""The test hosts themselves: what other tests rely on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.home import until
from tests.services import need
from tests.ssh.hosts import REPOSITORY
from tests.ssh.lab import Lab, sweep

# What hosts see of this machine in /tmp besides the lab: the code under test, if it is there.
OURS = {str(Path("/tmp", *path.parts[2:3])) for path in (REPOSITORY, Path(sys.prefix)) if path.is_relative_to("/tmp")}


@pytest.fixture(scope="module")
def pair(shared_lab: Lab) -> Lab:
    shared_lab.host("gpu01")
    shared_lab.host("gpu02")
    return shared_lab


def test_two_hosts_have_their_own_names_homes_and_processes(pair: Lab) -> None:
    said = {name: pair.ssh(name, "hostname; pwd; echo $$; ls -d /tmp/*") for name in ("gpu01", "gpu02")}
    for name, done in said.items():
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[:2] == [name, str(pair.hosts[name].home())]
        assert [path for path in done.stdout.split()[3:] if path not in OURS] == [str(pair.path)]
    with subprocess.Popen(["ssh", "gpu01", "exec sleep 1234"], env=pair.environment) as sleeping:
        assert until(lambda: "sleep 1234" in pair.hosts["gpu01"].processes().values())
        assert "sleep 1234" not in pair.hosts["gpu02"].processes().values()
        assert pair.ssh("gpu02", "pgrep -f 'sleep 123[4]'").returncode == 1
        sleeping.kill()


def test_hosts_reach_each_other_and_an_account_is_not_root(pair: Lab) -> None:
    done = pair.ssh(
        "alice@gpu01", "id -un; cd && pwd; cat /dev/tcp/gpu02/22 2>/dev/null; exec 3</dev/tcp/gpu02/22 && head -c4 <&3"
    )
    home = pair.hosts["gpu01"].home("alice")
    assert done.stdout.split() == ["alice", str(home), "SSH-"], done.stderr
    assert pair.ssh("alice@gpu01", f"ls {pair.hosts['gpu01'].home('root')}").returncode != 0


def test_tarmac_and_python_run_for_every_account(pair: Lab) -> None:
    host = pair.hosts["gpu01"]
    for user in ("root", "alice"):
        host.install_tarmac(user)
        done = pair.ssh(f"{user}@gpu01", "/usr/bin/python3 -c 'print(1)' && .local/bin/tarmac --version")
        assert done.stdout.startswith("1\ntarmac "), done.stderr


@pytest.mark.parametrize("direction", ["both", "to", "from"])
def test_a_cut_stops_a_stream_and_it_continues_when_healed(pair: Lab, direction: str) -> None:
    host = pair.hosts["gpu01"]
    words = ["ssh", "gpu01", "exec cat"]
    with subprocess.Popen(words, env=pair.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cat:
        assert cat.stdin is not None
        assert cat.stdout is not None

        def say(text: str) -> None:
            assert cat.stdin is not None
            cat.stdin.write(text)
            cat.stdin.flush()

        say("before\n")
        assert cat.stdout.readline() == "before\n"
        host.cut(direction)
        say("during\n")
        assert pair.ssh("-o", "ConnectTimeout=1", "gpu01", "true").returncode == 255
        assert pair.ssh("gpu02", "true").returncode == 0
        host.heal()
        assert cat.stdout.readline() == "during\n"
        cat.stdin.close()
        assert cat.wait(20) == 0


def test_a_reboot_ends_every_process_and_changes_the_boot_id(lab: Lab) -> None:
    host = lab.host("gpu01")
    read = "cat /proc/sys/kernel/random/boot_id"
    first = lab.ssh("gpu01", f"{read}; touch kept /tmp/gone; setsid sleep 1234 >/dev/null 2>&1 <&1 & sleep 0; {read}")
    assert first.stdout.split() == [host.boot_id] * 2, first.stderr
    assert until(lambda: "sleep 1234" in host.processes().values())
    machine = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    host.reboot()
    second = lab.ssh("gpu01", f"{read}; ls; ls /tmp")
    seen = [name for name in second.stdout.split() if f"/tmp/{name}" not in OURS]
    assert seen == [host.boot_id, "kept", lab.path.name]
    assert len({machine, host.boot_id, first.stdout.split()[0]}) == 3
    assert "sleep 1234" not in host.processes().values()


def test_detached_processes_outlive_sshd(pair: Lab) -> None:
    host = pair.hosts["gpu02"]
    assert pair.ssh("gpu02", "setsid sleep 4321 >/dev/null 2>&1 <&1 &").returncode == 0
    host.kill_sshd()
    assert pair.ssh("gpu02", "true").returncode == 255
    assert "sleep 4321" in host.processes().values()
    host.start_sshd()
    assert pair.ssh("gpu02", "pkill -f 'sleep 432[1]'").returncode == 0


@pytest.mark.parametrize(
    ("shell", "variable"), [("sh", "$0"), ("tcsh", "$version"), ("fish", "$FISH_VERSION"), ("bash", "$BASH_VERSION")]
)
def test_the_login_shell_can_be_chosen(pair: Lab, shell: str, variable: str) -> None:
    need(shell)
    pair.hosts["gpu02"].shell(shell, "bob")
    done = pair.ssh("bob@gpu02", f"echo {variable}; echo $SHELL")
    first, path = done.stdout.split("\n")[:2]
    assert first, done.stderr
    assert os.path.basename(path) == shell


def test_login_files_are_read(pair: Lab) -> None:
    pair.hosts["gpu01"].write_rc(".bashrc", "echo noise\n", "bob")
    assert pair.ssh("bob@gpu01", "echo words").stdout == "noise\nwords\n"


def test_a_killed_run_leaves_nothing(tmp_path: Path) -> None:
    code = "from tests.ssh.lab import Lab; lab = Lab(); host = lab.host('gpu01');"
    code += "print(lab.path, lab.device, host.pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        path, device, pid = run.stdout.readline().split()
        assert os.path.exists(f"/sys/class/net/{device}")
        run.kill()
    assert until(lambda: not os.path.exists(f"/proc/{pid}/ns/net"))
    assert until(lambda: not os.path.exists(f"/sys/class/net/{device}"))
    assert path not in Path("/proc/self/mountinfo").read_text()
    sweep()
    assert not os.path.exists(path)
