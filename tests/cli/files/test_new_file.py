"""A new file that cannot be written is named, and nothing of it is left."""

import errno
import os
from pathlib import Path

import pytest

from tarmac.cli.files.new_file import new_file
from tarmac.errors import UserError


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "jobs.jsonl")
    with pytest.raises(UserError, match=r"export: cannot write .*/jobs\.jsonl: No space left") as refused:
        with new_file("export", path) as new:
            full = os.open("/dev/full", os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(full, new.file.fileno())
            os.close(full)
            new.file.write(b"{}")
    assert refused.value.hint
    assert list(tmp_path.iterdir()) == []


def test_other_errors_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), new_file("export", str(tmp_path / "jobs.jsonl")):
        raise PermissionError(errno.EPERM, "no")
    assert list(tmp_path.iterdir()) == []
