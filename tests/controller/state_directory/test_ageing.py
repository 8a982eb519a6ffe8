"""Files in /tmp and /var/tmp are not cleaned away. The rules are those of systemd-tmpfiles."""

import os
import stat
from pathlib import Path

import pytest

from tarmac.controller.state_directory.ageing import is_cleaned, refresh

LONG_AGO = 1_000_000_000


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/var/tmp/tarmac-1000", True), ("/tmp/x/y", True), ("/home/ann/.local/state/tarmac", False), ("/tmpx", False)],
)
def test_only_such_places_are_cleaned(path: str, expected: bool) -> None:
    assert is_cleaned(Path(path)) is expected


def test_files_of_tarmac_are_fresh_and_sticky_and_logs_may_go(tmp_path: Path) -> None:
    kept = [tmp_path / name for name in ("tarmac.db", "agent/node", "agent/runs/1.1/start.json")]
    log = tmp_path / "logs/1.1.log"
    for path in (*kept, log):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
        os.utime(path, (LONG_AGO, LONG_AGO))
    refresh(tmp_path)
    for path in kept:
        info = path.stat()
        assert info.st_mode & 0o7777 == 0o600 | stat.S_ISVTX
        assert min(info.st_atime, info.st_mtime) > LONG_AGO
    assert log.stat().st_mtime == LONG_AGO
