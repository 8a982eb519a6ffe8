"""Which failed launches lead to a check of the snapshot: those that say that it is damaged, and no others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.run.shim.checkout import NoCheckout, make_checkout
from tarmac.controller.snapshots.damage import DamageWatch
from tarmac.core.events import LaunchFailed
from tarmac.core.model.ids import JobId
from tarmac.core.model.names import Outside
from tarmac.core.model.snapshot import Snapshot
from tarmac.shared.frames.to_agent import SnapshotEntry
from tarmac.shared.snapshots.objects import hash_of
from tests.controller.snapshots.test_snapshots import Kept
from tests.core.support.builders import a_spec
from tests.core.support.scene import Scene
from tests.store.test_snapshots import damage

# The words of the first version with snapshots, which running agents still send.
OLD = "its snapshot cannot be checked out: object 00 is damaged; submit the job again from the original files"


class Watched:
    """A real store of snapshots that counts the checks, and the engine that reports the ends of attempts."""

    def __init__(self, folder: Path) -> None:
        self.kept = Kept(folder)
        self.tree = self.kept.add(code=b"print()")
        self.after_attempts: list[Any] = []
        self.checked: list[str] = []

    async def drop_if_damaged(self, tree: str) -> list[str]:
        self.checked.append(tree)
        return await self.kept.snapshots.drop_if_damaged(tree)

    def fail(self, message: str, outside: Outside | None = None) -> list[str]:
        """Let a job with the snapshot fail to launch; return the trees that were checked then."""
        scene = Scene()
        scene.submit(a_spec(snapshot=Snapshot(tree=self.tree, root="/home/ann/project")))
        scene.report(LaunchFailed(job=JobId(1), attempt=1, message=message, at=scene.now, outside=outside))

        async def end() -> None:
            watch = DamageWatch(self, self, scene.jobs.get)  # type: ignore[arg-type]
            self.after_attempts.pop()(scene.state.take_changes())
            if watch._task is not None:
                await watch._task

        asyncio.run(end())
        return self.checked

    def check_out(self, folder: Path) -> str:
        """What a node says that cannot check it out there."""
        entry: SnapshotEntry = {
            "tree": self.tree,
            "root": "/home/ann/project",
            "directory": "",
            "links": [],
            "objects": str(self.kept.folder / "snapshots.db"),
            "checkout": str(folder / "7"),
        }
        with pytest.raises(NoCheckout) as failure:
            make_checkout(entry, 1)
        return str(failure.value)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_damaged_snapshot_is_checked_and_dropped(watched: Watched, tmp_path: Path) -> None:
    damage(watched.kept.folder / "snapshots.db", hash_of(b"print()"))
    assert watched.fail(watched.check_out(tmp_path / "checkouts")) == [watched.tree]
    assert not watched.kept.snapshots.is_known(watched.tree)


def test_the_words_of_older_agents_are_understood(watched: Watched) -> None:
    assert watched.fail(OLD) == [watched.tree]


def test_a_directory_that_cannot_be_written_does_not_lead_to_a_check(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = watched.check_out(tmp_path / "file")
    assert "its snapshot cannot be checked out" in said
    assert watched.fail(said) == []


@pytest.mark.parametrize(
    ("message", "outside"),
    [
        ("trainn: command not found (PATH searched: /bin)", None),
        ("/data: the working directory does not exist", "no-cwd"),
        ("python3: command not found (PATH searched: /bin)", "no-interpreter"),
        ("its snapshot cannot be checked out: /scratch: No space left on device", "disk-full"),
    ],
)
def test_other_failures_do_not_lead_to_a_check(watched: Watched, message: str, outside: Outside | None) -> None:
    assert watched.fail(message, outside) == []
