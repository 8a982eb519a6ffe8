"""Whether the disk of a log is full, from the kernel's table of mounts."""

import os
import subprocess
from pathlib import Path

import pytest

from tarmac.agent.files import mounts
from tarmac.agent.run.shim.log_disk import is_full
from tests.services import need


def test_a_disk_with_space_is_not_full(tmp_path: Path) -> None:
    assert not is_full(str(tmp_path / "log"))
    assert not is_full("")
    assert not is_full("/proc/no/such/file")


def test_a_disk_without_space_or_without_inodes_is_full(tmp_path: Path) -> None:
    need("root")
    disk = tmp_path / "a disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=10", "tarmac-test", disk], check=True)
    try:
        assert not is_full(str(disk / "log"))
        for number in range(os.statvfs(disk).f_favail):
            (disk / str(number)).touch()
        assert is_full(str(disk / "log"))
        (disk / "0").unlink()
        assert not is_full(str(disk / "log"))
        with (disk / "1").open("wb", buffering=0) as file:
            while file.tell() < 65536 and file.write(b"x" * 4096):
                pass
        assert is_full(str(disk / "log"))
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


HANGING = [
    "nfs4",
    "fuse.sshfs",
    "wekafs",
    "panfs",
    "virtiofs",
    "pvfs2",
    "gfs2",
    "ocfs2",
    "vboxsf",
    "daos",
    "of tomorrow",
]
FIRST = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw"


def statvfs_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *lines: str) -> list[str]:
    """Replace the kernel's table of mounts; return the list that the paths asked about are added to."""
    table = tmp_path / "mountinfo"
    table.write_text("".join(line + "\n" for line in (FIRST, *lines)))
    asked: list[str] = []
    monkeypatch.setattr(mounts, "open", lambda _, **how: table.open(**how), raising=False)
    monkeypatch.setattr(os, "statvfs", lambda path: asked.append(path) or os.fstatvfs(0))
    return asked


@pytest.mark.parametrize("kind", HANGING)
@pytest.mark.parametrize("point", ["/data", "/", "/data/runs"])
def test_only_known_local_file_systems_are_asked(
    kind: str, point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other may hang, which would keep the exit from being recorded."""
    asked = statvfs_calls(monkeypatch, tmp_path, f"30 22 0:40 / {point} rw - {kind} remote rw")
    assert not is_full("/data/runs/log")
    assert asked == []


def test_a_local_disk_below_a_remote_one_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way to it leads through the remote one."""
    remote, local = "30 22 0:40 / /data rw - nfs4 remote:/ rw", "31 30 8:2 / /data/runs rw shared:2 - xfs /dev/sdb1 rw"
    asked = statvfs_calls(monkeypatch, tmp_path, local, remote)
    assert not is_full("/data/runs/log")
    assert asked == []


def test_the_visible_one_of_two_mounts_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger, disk = "30 22 0:40 / /a\\134b rw - autofs systemd-1 rw", "31 30 8:2 / /a\\134b rw - xfs /dev/sdb1 rw"
    asked = statvfs_calls(monkeypatch, tmp_path, trigger, disk)
    is_full("/a\\b/log")
    assert asked == ["/a\\b"]
