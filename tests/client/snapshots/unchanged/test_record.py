"""Recognizing an unchanged work tree: every change that matters is noticed, and others are not."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tarmac.client.snapshots.diff.work_tree import WorkTree
from tarmac.client.snapshots.unchanged.record import Record
from tests.client.snapshots.trees import git, repository, settle

LINKS = (b"data",)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With ignored files and directories of several kinds."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    (tmp_path / "home" / ".config" / "git").mkdir(parents=True)
    root = repository(tmp_path / "project", "a.py", "lib/b.py", "data/x", "gone/c.py", ".gitignore")
    return _filled(root, ".gitignore")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """The same without git."""
    root = tmp_path / "plain"
    for name in ("a.py", "lib/b.py", "data/x", "gone/c.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{name}\n")
    return _filled(root, ".tarmacignore")


def _filled(root: Path, rules: str) -> Path:
    (root / rules).write_text("*.log\nbuild/\n")
    for name in ("build/x", "venv/lib/y", "logs/1.log", ".state/tarmac.db"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / "venv" / rules).write_text("*\n")
    (root / "empty").mkdir()
    (root / "gone" / "c.py").unlink()
    settle(root)
    return root


def taken(
    root: Path,
    *,
    inside: str = ".",
    links: tuple[bytes, ...] = LINKS,
    meanwhile: Callable[[WorkTree], object] = lambda _: None,
) -> str:
    """The name of the tree, from a full scan; it is kept. `meanwhile` is called during the upload."""
    tree = _work_tree(root, inside)
    try:
        scanned = tree.scan(links)
        name, _ = tree.tree(scanned)
        meanwhile(tree)
        Record(tree, links).keep(scanned, name)
    finally:
        tree.close()
    return name.hex()


def known(root: Path, *, inside: str = ".", links: tuple[bytes, ...] = LINKS) -> str | None:
    tree = _work_tree(root, inside)
    try:
        name = Record(tree, links).known_tree()
    finally:
        tree.close()
    return None if name is None else name.hex()


def _work_tree(root: Path, inside: str) -> WorkTree:
    return WorkTree(os.path.realpath(os.fsencode(root / inside)), str(root / ".state"))


def _append(*path: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        with root.joinpath(*path).open("a") as file:
            file.write("x\n")

    return change


def _new(*path: str) -> Callable[[Path], object]:
    return lambda root: root.joinpath(*path).write_text("*.new\n")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": _append("a.py"),
    "permissions": lambda root: (root / "lib" / "b.py").chmod(0o755),
    "new file": _new("new.py"),
    "new file in a subdirectory": _new("lib", "new.py"),
    "new file in an empty directory": _new("empty", "new.py"),
    "new file where all are ignored": _new("logs", "new.py"),
    "new directory": lambda root: (root / "lib" / "new").mkdir(),
    "deleted file": lambda root: (root / "lib" / "b.py").unlink(),
    "deleted directory": lambda root: (root / "empty").rmdir(),
    "file that is there again": _new("gone", "c.py"),
    "file replaced by a link": lambda root: ((root / "a.py").unlink(), (root / "a.py").symlink_to("lib/b.py")),
    "new pipe": lambda root: os.mkfifo(root / "lib" / "pipe"),
}
IN_GIT: dict[str, Callable[[Path], object]] = {
    "rules": _append(".gitignore"),
    "rules that are ignored": _append("venv", ".gitignore"),
    "private rules": _append(".git", "info", "exclude"),
    "rules of the user": _new("..", "home", ".config", "git", "ignore"),
    "configuration": lambda root: git(root, "config", "core.excludesFile", "/dev/null"),
    "configuration of the user": _new("..", "home", ".gitconfig"),
    "commit": lambda root: git(root, "commit", "--allow-empty", "-qm", "next"),
    "branch": lambda root: git(root, "checkout", "-qb", "other"),
    "index": lambda root: git(root, "add", "-f", "build/x"),
    "repository inside": lambda root: git(root, "init", "-q", "empty"),
}
WITHOUT_GIT: dict[str, Callable[[Path], object]] = {
    "rules": _append(".tarmacignore"),
    "rules that are ignored": _append("venv", ".tarmacignore"),
    "repository": lambda root: git(root, "init", "-q"),
}
HARMLESS: dict[str, Callable[[Path], object]] = {
    "in an ignored directory": _new("build", "new"),
    "in a directory whose rules ignore all": _new("venv", "lib", "new"),
    "content of an ignored file": _append("logs", "1.log"),
    "in a directory that is linked": _new("data", "new"),
    "in Tarmac's directory": _new(".state", "new"),
}


def test_a_tree_is_recognized_while_nothing_changes(root: Path) -> None:
    name = taken(root)
    assert known(root) == name
    assert known(root) == name


def test_a_directory_without_git_is_recognized(plain: Path) -> None:
    name = taken(plain)
    assert known(plain) == name


@pytest.mark.parametrize("change", [*CHANGES, *IN_GIT])
def test_every_change_of_a_work_tree_is_noticed(root: Path, change: str) -> None:
    assert taken(root) == known(root)
    (CHANGES | IN_GIT)[change](root)
    assert known(root) is None


@pytest.mark.parametrize("change", [*CHANGES, *WITHOUT_GIT])
def test_every_change_of_a_directory_is_noticed(plain: Path, change: str) -> None:
    assert taken(plain) == known(plain)
    (CHANGES | WITHOUT_GIT)[change](plain)
    assert known(plain) is None


@pytest.mark.parametrize("change", HARMLESS)
@pytest.mark.parametrize("kind", ["root", "plain"])
def test_other_changes_are_not(request: pytest.FixtureRequest, kind: str, change: str) -> None:
    place: Path = request.getfixturevalue(kind)
    name = taken(place)
    HARMLESS[change](place)
    assert known(place) == name


def test_commit_branch_changes_and_notes_are_those_of_the_last_time(root: Path) -> None:
    os.mkfifo(root / "lib" / "pipe")
    settle(root)
    taken(root)
    tree = _work_tree(root, ".")
    try:
        Record(tree, LINKS).known_tree()
    finally:
        tree.close()
    words = ["git", "log", "-1", "--format=%H %D"]
    commit, _, _, branch = subprocess.check_output(words, cwd=root, text=True).split()
    assert (tree.listing.commit, tree.listing.branch) == (commit, branch)
    assert tree.listing.changed == 3  # .gitignore, the deleted file, and what is in .state
    assert tree.notes == ["lib/pipe is a pipe and is not part of the snapshot"]


def test_another_directory_and_other_links_are_not_the_same_snapshot(root: Path) -> None:
    taken(root)
    assert known(root, inside="lib") is None
    assert known(root, links=()) is None


def test_a_linked_work_tree_has_its_own_head(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "second"))
    (tmp_path / "second" / "data").mkdir(exist_ok=True)
    settle(tmp_path / "second")
    settle(root)
    assert taken(tmp_path / "second") == known(tmp_path / "second")
    git(tmp_path / "second", "commit", "--allow-empty", "-qm", "next")
    assert known(tmp_path / "second") is None


def test_what_changed_just_now_may_change_again_unnoticed_and_is_not_kept(root: Path) -> None:
    (root / "new.py").write_text("")
    taken(root)
    assert known(root) is None


def test_a_work_tree_with_a_submodule_is_always_listed(root: Path) -> None:
    git(root, "init", "-q", "lib/inner")
    settle(root)
    taken(root)
    assert known(root) is None


def test_a_damaged_record_costs_time_only(root: Path, tmp_path: Path) -> None:
    taken(root)
    (record,) = (tmp_path / "cache").rglob("*.unchanged")
    record.write_bytes(record.read_bytes()[:-1] + b"?")
    assert known(root) is None


@pytest.mark.parametrize("change", ["content", "new file in a subdirectory", "deleted file", "rules"])
@pytest.mark.parametrize("kind", ["root", "plain"])
def test_a_change_during_the_upload_counts_though_the_clock_of_the_files_is_behind(
    request: pytest.FixtureRequest, kind: str, change: str
) -> None:
    place: Path = request.getfixturevalue(kind)

    def meanwhile(tree: WorkTree) -> None:
        tree.cache.began_ns += 3600 * 10**9
        (CHANGES | (IN_GIT if kind == "root" else WITHOUT_GIT))[change](place)

    taken(place, meanwhile=meanwhile)
    assert known(place) is None


def test_a_file_that_was_not_read_as_it_is_now_is_not_kept(root: Path) -> None:
    """Its time is old, as that of a file that was changed by another machine."""
    taken(root, meanwhile=lambda tree: ((root / "a.py").write_text("new\n"), settle(root), _begin_again(tree)))
    assert known(root) is None


def _begin_again(tree: WorkTree) -> None:
    tree.cache.began_ns, tree.cache.began_monotonic_ns = time.time_ns(), time.monotonic_ns()


@pytest.mark.parametrize("has_unnamed_files", [True, False])
def test_the_clock_of_the_files_is_read_without_a_trace(
    root: Path, monkeypatch: pytest.MonkeyPatch, *, has_unnamed_files: bool
) -> None:
    before = sorted(root.rglob("*"))
    if not has_unnamed_files:  # as on NFS: it takes the flag for a file that exists already
        monkeypatch.setattr(os, "O_TMPFILE", os.O_CREAT | os.O_EXCL)
    name = taken(root)
    assert sorted(root.rglob("*")) == before
    assert known(root) == name


def test_a_record_that_cannot_be_kept_costs_time_only(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attributes = root.parent / "home" / ".config" / "git" / "attributes"
    attributes.symlink_to(attributes)  # a loop: neither missing nor readable
    taken(root)
    assert known(root) is None
    attributes.unlink()
    taken(root, meanwhile=lambda _: monkeypatch.setenv("PATH", "/nowhere"))  # git vanishes
    assert known(root) is None


def test_what_cannot_be_looked_at_later_costs_time_only(root: Path) -> None:
    taken(root)
    attributes = root.parent / "home" / ".config" / "git" / "attributes"
    attributes.symlink_to(attributes)
    assert known(root) is None


@pytest.mark.parametrize("exists", [True, False])
def test_rules_behind_a_link_are_watched(plain: Path, *, exists: bool) -> None:
    shared = plain.parent / "shared-rules"
    if exists:
        shared.write_text("*.log\n")
    (plain / "lib" / ".tarmacignore").symlink_to(shared)
    settle(plain.parent)
    assert taken(plain) == known(plain)
    shared.write_text("*.log\nb.py\n")
    assert known(plain) is None


@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize("name", ["include.path", "includeIf.gitdir:/.path"])
@pytest.mark.parametrize("place", ["more.config", "~/more.config"])
def test_a_configuration_that_is_included_but_has_no_settings_yet_is_watched(
    root: Path, place: str, name: str, content: str | None
) -> None:
    git(root, "config", name, place)
    file = root.parent / "home" / "more.config" if place.startswith("~") else root / ".git" / place
    if content is not None:
        file.write_text(content)
    settle(root.parent)
    assert taken(root) == known(root)
    file.write_text("[core]\n\texcludesFile = /nowhere\n")
    assert known(root) is None


@pytest.mark.parametrize("name", ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"])
def test_a_configuration_of_the_environment_is_watched_though_it_is_empty(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = root.parent / "empty.config"
    file.write_text("")
    monkeypatch.setenv(name, str(file))
    settle(root.parent)
    assert taken(root) == known(root)
    file.write_text("[core]\n\texcludesFile = /nowhere\n")
    assert known(root) is None
