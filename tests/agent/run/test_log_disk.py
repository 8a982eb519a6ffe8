"""Whether the disk of a log is full, from the kernel's table of mounts."""

import os
import subprocess
from pathlib import Path

from tarmac.agent.run.log_disk import is_full
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
