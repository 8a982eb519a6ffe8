"""A full disk: a start fails or works, an exit is never lost, and everything works again once there is space."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent_peer import Site, children, eventually


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Site]:
    """A site with its state on a file system of 2 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tarmac-test", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted: {mounted.stderr.decode().strip()}")
    site = Site(folder, "scan")
    site.boot()
    yield site
    site.clean_up()
    eventually(lambda: subprocess.run(["umount", str(folder)], check=False, capture_output=True).returncode == 0)


def fill(site: Site) -> Path:
    path = Path(site.path("filler"))
    with path.open("ab", buffering=0) as file:
        for size in (65536, 4096):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
    return path


def fill_and_kill(site: Site) -> bool:
    """True once no idle shim has disk space allocated and none is left for another."""
    for pid in shims_of(site):
        os.kill(pid, signal.SIGKILL)
    folders = os.listdir(site.path("agent/spare"))
    fill(site)
    return not folders


def shims_of(site: Site) -> list[int]:
    """Including those that were killed and are not reaped yet."""
    return children(site.agent.pid, "tarmac-shim")


def test_start_without_disk_space_fails_and_later_ones_work(small: Site, tmp_path: Path) -> None:
    peer = small.peers[0]
    eventually(lambda: fill_and_kill(small))
    peer.start(1, argv=["true"], stdout=str(tmp_path / "log1"))
    assert "No space left on device" in peer.expect("launch_failed", 1)["message"]
    Path(small.path("filler")).unlink()
    peer.start(2, shell="exit 4", stdout=str(tmp_path / "log2"))
    assert peer.expect("exited", 2)["exit_code"] == 4


def test_exit_that_cannot_be_recorded_is_reported_and_recorded_later(small: Site, tmp_path: Path) -> None:
    peer = small.peers[0]
    for job in range(1, 6):  # more than there are idle shims, so that some have no blocks allocated
        script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; exit {job}"
        peer.start(job, shell=script, stdout=str(tmp_path / f"log{job}"))
    for job in range(1, 6):
        peer.expect("started", job)
    filler = fill(small)
    (tmp_path / "go").touch()
    for job in range(1, 6):
        assert peer.expect("exited", job)["exit_code"] == job
    unrecorded = [job for job in range(1, 6) if not small.text(f"agent/runs/{job}.1/exit.json").strip()]
    assert unrecorded
    peer.forget(unrecorded[0])  # the controller has committed it, so the shim need not retry
    eventually(lambda: not os.path.exists(small.path(f"agent/runs/{unrecorded[0]}.1")))
    filler.unlink()
    for job in unrecorded[1:]:
        eventually(lambda job=job: small.text(f"agent/runs/{job}.1/exit.json").strip())


def test_job_on_an_idle_shim_needs_no_disk_space(small: Site, tmp_path: Path) -> None:
    eventually(lambda: len(shims_of(small)) >= 2)
    fill(small)
    peer = small.peers[0]
    peer.start(1, shell="exit 5", stdout=str(tmp_path / "log"))
    assert peer.expect("exited", 1)["exit_code"] == 5


def test_request_to_stop_that_cannot_be_recorded_is_reported_with_the_exit(small: Site, tmp_path: Path) -> None:
    peer = small.peers[0]
    script = f"trap 'exit 0' TERM; touch {tmp_path}/ready; while :; do sleep 0.01; done"
    peer.start(1, shell=script, stdout=str(tmp_path / "log1"))
    eventually((tmp_path / "ready").exists)
    fill(small)
    peer.signal(1, signal.SIGTERM, 1000)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signalled"]) == (0, True)
    assert not small.text("agent/runs/1.1/stop.json").strip()
