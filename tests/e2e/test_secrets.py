"""Where secrets in the environment of a command end up: in its jobs, and nowhere else."""

import os
import signal
from pathlib import Path

import pytest

from tests.home import Home, until

SECRET = "correct-horse-battery-staple"


def environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""  # ended


def own_processes(home: Home) -> dict[int, str]:
    """Those of Tarmac itself. The name of a job's process is not Tarmac's."""
    return {pid: line for pid, line in home.processes().items() if "tarmac" in line}


def holders(home: Home) -> dict[int, str]:
    return {pid: line for pid, line in own_processes(home).items() if SECRET.encode() in environ(pid)}


def test_no_process_of_tarmac_keeps_the_environment_of_the_first_command(home: Home, tmp_path: Path) -> None:
    home.environment["API_KEY"] = SECRET
    job = home.add("--gpus", "1", "--", "sh", "-c", f"echo $API_KEY > {tmp_path}/seen; exec sleep 1000")
    assert until(lambda: (tmp_path / "seen").exists() and (tmp_path / "seen").read_text())
    assert (tmp_path / "seen").read_text().strip() == SECRET, "jobs get the whole environment"
    names = " ".join(own_processes(home).values())
    assert "tarmac.controller" in names
    assert "tarmac.agent" in names
    assert holders(home) == {}
    # Neither does an agent that a running controller starts.
    before = home.pid_of("agent")
    os.kill(before, signal.SIGKILL)
    assert until(lambda: home.pid_of("agent") not in {None, before})
    assert holders(home) == {}
    assert home.tarmac("kill", str(job)).returncode == 0


def test_serve_does_not_keep_the_environment_of_its_shell(home: Home) -> None:
    home.environment["API_KEY"] = SECRET
    served = home.start("serve")
    assert until((home.path / "tarmac.sock").exists)
    assert SECRET.encode() not in environ(served.pid)
    assert home.tarmac("stop").returncode == 0
    served.communicate(timeout=60)


@pytest.mark.parametrize("size", [10, 100_000], ids=["small", "larger than a pipe"])
def test_nothing_of_a_removed_job_is_left_in_the_state_directory(home: Home, size: int) -> None:
    filler = {f"FILLER_{number}": "x" * 1000 for number in range(size // 1000)}
    done = home.tarmac("run", "sh", "-c", f"true {SECRET}", env={"API_KEY": SECRET, **filler})
    assert done.returncode == 0, done.stderr
    assert home.tarmac("add", "true").returncode == 0
    assert home.tarmac("rm", "1").returncode == 0
    found = [path for path in home.path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []
    assert home.tarmac("show", "2").returncode == 0
