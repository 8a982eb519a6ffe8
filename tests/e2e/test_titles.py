"""`ps` tells the processes of Tarmac apart, and shows a job under its own command."""

import subprocess
from pathlib import Path

from tests.home import Home, until


def titles(home: Home) -> dict[int, str]:
    """The command lines of this home's processes, as `ps` prints them."""
    pids = ",".join(map(str, home.processes()))
    done = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "-p", pids], capture_output=True, text=True, check=False)
    return {int(pid): line for pid, _, line in (row.strip().partition(" ") for row in done.stdout.splitlines())}


def begin(home: Home, start: str) -> list[int]:
    return [pid for pid, line in titles(home).items() if line.strip().startswith(start)]


def test_every_process_has_its_own_title(home: Home, tmp_path: Path) -> None:
    job = home.add("-c", f"touch {tmp_path}/ready; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done")
    assert until((tmp_path / "ready").exists)
    assert until(lambda: len(begin(home, f"tarmac: shim {job}.1 ")) == 1)
    assert home.tarmac("log", str(job)).returncode == 0
    assert begin(home, "tarmac: file helper ")
    assert begin(home, f"tarmac: controller -m tarmac.controller --state {home.path}") == [home.pid_of("controller")]
    assert begin(home, f"tarmac: agent -m tarmac.agent --state {home.path}") == [home.pid_of("agent")]
    assert len(begin(home, "tarmac: probe ")) == 1
    assert begin(home, "tarmac: idle shim ")
    pid = home.client().job(job).pid
    assert pid is not None
    assert titles(home)[pid].strip().startswith(("/bin/bash -c touch", "/bin/sh -c touch"))
    assert Path(f"/proc/{home.pid_of('controller')}/comm").read_text() == "tarmac-control\n"
    assert Path(f"/proc/{home.pid_of('agent')}/comm").read_text() == "tarmac-agent\n"
    (tmp_path / "go").touch()
    home.client().wait(job, timeout_s=60)
    assert until(lambda: not begin(home, f"tarmac: shim {job}.1 ")), "the shim is idle again"


def test_processes_are_still_found_by_what_they_run(home: Home) -> None:
    home.tarmac("status")
    for module in ("controller", "agent"):
        found = subprocess.run(
            ["pgrep", "-f", f"tarmac.{module} --state {home.path}"], capture_output=True, text=True, check=False
        )
        assert str(home.pid_of(module)) in found.stdout.split()
