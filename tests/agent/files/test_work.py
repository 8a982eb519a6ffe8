"""What the agent sees of a helper at work."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.files.trail import Trail
from tarmac.agent.files.work import Worker


def test_the_removal_of_a_large_checkout_does_not_pass_for_a_mount_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two such helpers would keep all others from the file system with the logs."""
    (tmp_path / "7" / "code").mkdir(parents=True)
    trail, seen, remove = Trail(), [], shutil.rmtree

    def look(*args: Any, **options: Any) -> None:
        seen.append(trail.read())
        remove(*args, **options)

    monkeypatch.setattr(shutil, "rmtree", look)
    request: Any = {"type": "tidy_checkouts", "ref": 1, "avoid": [], "remove": [str(tmp_path / "7")], "prune": []}
    assert Worker(trail, None, str(tmp_path)).perform(request)["type"] == "checkouts_tidied"
    assert seen == [""]
    assert not (tmp_path / "7").exists()
