"""A snapshot is written into a directory, or the directory is named that cannot be written."""

from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.client.snapshots.diff import stored
from tarmac.errors import UserError


def test_a_directory_that_cannot_be_created_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "StoredTree", lambda *_: SimpleNamespace(tree=None, number=1))
    nobody: Any = None
    with pytest.raises(UserError, match=r"^cannot write /proc/x: No such file or directory") as refused:
        stored.check_out(nobody, 1, "/proc/x")
    assert refused.value.hint
