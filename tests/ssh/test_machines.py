"""Machines that are unlike this one: an older Python, a home on a file server, a wrong clock."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.nodes.node_clock import NodeClock
from tests.clock.shifted import ShiftedClock, clock_library
from tests.home import Home, homes
from tests.services import need
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab
from tests.ssh.links import connect

__all__ = ["clock_library"]

HERE = Path(__file__).parent
HOUR_S = 3600
OLDEST = "3.8"


def oldest_python() -> Path | None:
    """The directory of a Python 3.8, by itself or from pyenv."""
    found = shutil.which(f"python{OLDEST}")
    versions = sorted(Path.home().glob(f".pyenv/versions/{OLDEST}.*"))
    return Path(found).resolve().parents[1] if found and ".pyenv" not in found else next(iter(versions), None)


@pytest.fixture(scope="module")
def host(shared_lab: Lab) -> Host:
    python = oldest_python()
    return shared_lab.host("gpu01", visible=[] if python is None else [python])


@pytest.fixture
def home(shared_lab: Lab, tmp_path: Path) -> Iterator[Home]:
    for made in homes(tmp_path / "home", gpus="0"):
        made.environment = {**shared_lab.environment, **made.environment, "PATH": shared_lab.environment["PATH"]}
        yield made


def test_the_agent_runs_on_the_oldest_python(shared_lab: Lab, host: Host) -> None:
    python = oldest_python()
    if python is None:
        pytest.skip(f"there is no Python {OLDEST} here")
    host.write_rc(".bashrc", f"PATH={python}/bin:$PATH\n", "alice")
    _, hello = connect(shared_lab, "gpu01", "alice")
    assert hello["boot_id"] == host.boot_id
    agents = [command for command in host.processes().values() if "--state" in command or "tarmac: agent" in command]
    runs = host.run("sh", "-c", "readlink /proc/[0-9]*/exe", check=False).stdout
    assert f"{python}/bin/python{OLDEST}" in runs, agents


@pytest.fixture(scope="module")
def mountinfo_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("gcc")
    library = tmp_path_factory.mktemp("mountinfo") / "mountinfo.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run(["gcc", *flags, "-o", library, HERE / "mountinfo.c", "-ldl"], check=True)
    return library


def test_the_state_of_an_agent_is_on_a_local_disk(shared_lab: Lab, host: Host, mountinfo_library: Path) -> None:
    """The home directory of bob is a mounted directory, and the machine says that it is on a file server."""
    folder = host.home("bob")
    host.run("mount", "-t", "tmpfs", "-o", "mode=700,uid=2002,gid=2002", "tmpfs", str(folder))
    library = shutil.copy(mountinfo_library, shared_lab.path / "mountinfo.so")
    table = shared_lab.path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:50 / {folder} rw - nfs4 server:/home rw\n")
    words = f"export LD_PRELOAD={library} TARMAC_TEST_MOUNTINFO={table}"
    host.run("sh", "-c", f"echo {words} >.bashrc", user="bob")
    joined, hello = connect(shared_lab, "gpu01", "bob")
    assert joined.state == "/var/tmp/tarmac-nodes-2002/test"
    assert (host.folder / "var-tmp" / "tarmac-nodes-2002" / "test" / "agent" / "agent.lock").exists()
    assert hello["boot_id"] == host.boot_id


def test_times_are_right_although_the_clock_of_a_node_is_an_hour_off(
    shared_lab: Lab, home: Home, host: Host, clock_library: Path
) -> None:
    clock = ShiftedClock(Path(shutil.copy(clock_library, shared_lab.path / "shifted.so")), shared_lab.path / "shift")
    clock.set(HOUR_S)
    words = [word for key, value in clock.environment.items() for word in ("--env", f"{key}={value}")]
    added = home.tarmac("node", "add", "gpu01", *words)
    assert added.returncode == 0, added.stderr
    before = time.time()
    job = home.add("--cwd", str(host.home()), "--", "sh", "-c", "date +%s; exit 3")
    (ended,) = home.client().wait(job, timeout_s=60)
    after = time.time()
    assert ended.exit_code == 3
    seen = int(home.tarmac("log", str(job)).stdout)
    assert abs(seen - before) < HOUR_S / 2  # jobs do not get the variables of the agent
    assert ended.started_at is not None
    assert ended.ended_at is not None
    assert before - 1 <= ended.started_at.timestamp() <= ended.ended_at.timestamp() <= after + 1
    (log,) = host.home().glob(".local/state/tarmac-nodes/*/agent/agent.log")
    logged_s = time.mktime(time.strptime(log.read_text()[:19], "%Y-%m-%d %H:%M:%S"))
    assert logged_s > before + HOUR_S / 2  # the agent itself does live an hour ahead


def test_a_node_an_hour_ahead_is_related_by_its_hello() -> None:
    """The same without processes: what its clocks show is all that counts."""
    clock = NodeClock(wall_clock=lambda: 1000.0, own_clock=lambda: 50.0)
    clock.relate(boot_s=7.0, at=1000.0 + HOUR_S)
    assert clock.convert(at=1000.0 + HOUR_S - 2, boot_s=5.0) == 998.0
    assert clock.convert(at=1000.0 + HOUR_S - 2, boot_s=None) == 998.0
