"""Work trees for tests, and what a snapshot of them has."""

import os
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from tarmac.client.snapshots.diff.work_tree import WorkTree
from tarmac.shared.snapshots.objects import Entry


class Seen(NamedTuple):
    entries: dict[bytes, Entry]
    tree: WorkTree
    read: int  # files that were read, because they were not known
    name: str  # of the tree


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def repository(root: Path, *names: str) -> Path:
    """A work tree with these files, all committed."""
    root.mkdir(parents=True)
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first", "--allow-empty")
    return root


def look(directory: Path, *links: str, state: str = "/nowhere") -> Seen:
    tree = WorkTree(os.path.realpath(os.fsencode(directory)), state)
    try:
        scanned = tree.scan([os.fsencode(link) for link in links])
        name, _ = tree.tree(scanned)
        tree.remember(scanned, name)
    finally:
        tree.close()
    return Seen(scanned.entries(), tree, len(scanned.contents), name.hex())


def paths(directory: Path, *links: str) -> list[str]:
    return sorted(os.fsdecode(path) for path in look(directory, *links).entries)


def settle(root: Path) -> None:
    """Wait until the last change of the files is long enough ago to be remembered."""
    newest_ns = max(path.lstat().st_ctime_ns for path in root.rglob("*"))
    while time.time_ns() < newest_ns + 150_000_000:
        time.sleep(0.02)
