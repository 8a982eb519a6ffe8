"""Git work trees of every kind: the files that are tracked, and those that are untracked and not ignored."""

import os
import shutil
from pathlib import Path

import pytest

from tarmac.errors import UserError
from tarmac.shared.snapshots.objects import DIRECTORY, FILE, LINK
from tests.client.snapshots.trees import git, look, paths, repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", "a.py", "lib/b.py")


def test_tracked_and_untracked_files_but_not_ignored_ones(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    for name in ("new.py", "run.log", "build/x", "lib/new.py", "lib/y.log"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")
    git(root, "add", "-f", "run.log")  # tracked, although its name is ignored
    assert paths(root) == [".gitignore", "a.py", "lib/b.py", "lib/new.py", "new.py", "run.log"]


def test_private_and_global_rules_count(root: Path, tmp_path: Path) -> None:
    (root / ".git" / "info" / "exclude").write_text("private\n")
    (tmp_path / "ignore").write_text("*.swp\n")
    git(root, "config", "core.excludesFile", str(tmp_path / "ignore"))
    (root / "private").write_text("")
    (root / "x.swp").write_text("")
    assert paths(root) == ["a.py", "lib/b.py"]


def test_changes_are_taken_as_they_are_committed_or_not(root: Path) -> None:
    (root / "a.py").write_text("changed")
    git(root, "add", "a.py")
    (root / "a.py").write_text("changed again")
    seen = look(root)
    assert seen.entries[b"a.py"].size == len("changed again")
    assert (seen.tree.listing.branch, seen.tree.listing.changed) == ("main", 1)


def test_deleted_and_moved_files_are_gone(root: Path) -> None:
    (root / "a.py").unlink()
    git(root, "mv", "lib/b.py", "c.py")
    assert paths(root) == ["c.py", "lib"]  # git leaves the directory
    assert look(root).tree.listing.changed == 3


def test_without_a_commit_and_off_a_branch(root: Path, tmp_path: Path) -> None:
    git(root, "checkout", "-q", "--detach")
    listing = look(root).tree.listing
    assert listing.branch is None
    assert len(listing.commit or "") == 40
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q")
    (fresh / "x").write_text("")
    seen = look(fresh)
    assert (seen.tree.listing.commit, seen.tree.listing.branch, seen.tree.listing.changed) == (None, "main", 1)
    assert list(seen.entries) == [b"x"]


def test_symbolic_links_of_every_kind(root: Path) -> None:
    targets = {"good": "a.py", "dangling": "nowhere", "absolute": "/etc/hosts", "directory": "lib", "loop": "loop",
               "up": "../outside"}  # fmt: skip
    for name, target in targets.items():
        (root / name).symlink_to(target)
    git(root, "add", "good")
    entries = look(root).entries
    assert {os.fsdecode(path) for path, entry in entries.items() if entry.kind == LINK} == set(targets)
    assert b"directory/b.py" not in entries


def test_a_tracked_directory_that_is_now_a_link(root: Path, tmp_path: Path) -> None:
    shutil.move(root / "lib", tmp_path / "elsewhere")
    (root / "lib").symlink_to(tmp_path / "elsewhere")
    entries = look(root).entries
    assert entries[b"lib"].kind == LINK
    assert sorted(entries) == [b"a.py", b"lib"]


def test_a_tracked_file_that_is_now_a_directory(root: Path) -> None:
    (root / "a.py").unlink()
    (root / "a.py").mkdir()
    (root / "a.py" / "inside").write_text("")
    assert paths(root) == ["a.py/inside", "lib/b.py"]


def test_permissions_are_kept(root: Path) -> None:
    (root / "run.sh").write_text("")
    (root / "run.sh").chmod(0o750)
    (root / "a.py").chmod(0o600)
    entries = look(root).entries
    assert (entries[b"run.sh"].mode, entries[b"a.py"].mode) == (0o750, 0o600)


def test_empty_directories(root: Path) -> None:
    (root / ".gitignore").write_text("ignored/\n*.log\n")
    for name in ("empty", "lib/empty", "new/deep/er", "ignored/inside", "logs"):
        (root / name).mkdir(parents=True)
    (root / "new" / "x").write_text("")
    (root / "logs" / "run.log").write_text("")
    entries = look(root).entries
    found = {os.fsdecode(path) for path, entry in entries.items() if entry.kind == DIRECTORY}
    assert {"empty", "lib/empty", "new/deep/er", "logs"} <= found
    assert not any(path.startswith(b"ignored") for path in entries)
    assert b"logs/run.log" not in entries


def test_names_of_every_kind(root: Path) -> None:
    names = [b"new\nline", b"tab\there", b"-rf", b"\xff\xfe", "ünïcødé".encode(), b'quo"te', b" space ", b"back\\slash"]
    for name in names:
        Path(os.fsdecode(os.path.join(os.fsencode(root), name))).write_text("")
    git(root, "config", "core.quotepath", "true")
    assert set(look(root).entries) == {*names, b"a.py", b"lib/b.py"}
    git(root, "add", "-A")
    git(root, "commit", "-qm", "odd")
    assert set(look(root).entries) == {*names, b"a.py", b"lib/b.py"}


def test_submodules_are_part_of_it(root: Path, tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", "deep.py")
    module = repository(tmp_path / "module", "m.py")
    git(module, "submodule", "-q", "add", str(inner), "inner")
    git(module, "commit", "-qm", "inner")
    git(root, "submodule", "-q", "add", str(module), "libs/module")
    git(root, "commit", "-qm", "module")
    git(root, "submodule", "-q", "update", "--init", "--recursive")
    (root / "libs" / "module" / "untracked.py").write_text("")
    expected = {
        b"libs/module/m.py",
        b"libs/module/untracked.py",
        b"libs/module/inner/deep.py",
        b"libs/module/.gitmodules",
    }
    seen = look(root)
    assert expected <= set(seen.entries)
    assert seen.tree.listing.changed == 1
    assert not any(path.endswith(b"/.git") for path in seen.entries)


def test_a_submodule_that_is_not_checked_out_is_an_empty_directory(root: Path, tmp_path: Path) -> None:
    module = repository(tmp_path / "module", "m.py")
    git(root, "submodule", "-q", "add", str(module), "module")
    git(root, "commit", "-qm", "module")
    git(tmp_path, "clone", "-q", str(root), "clone")
    assert look(tmp_path / "clone").entries[b"module"].kind == DIRECTORY


def test_a_repository_inside_is_part_of_it_with_or_without_being_tracked(root: Path) -> None:
    repository(root / "vendor" / "tool", "t.py")
    assert b"vendor/tool/t.py" in look(root).entries
    git(root, "add", "vendor/tool")  # a link to its commit, without .gitmodules
    assert b"vendor/tool/t.py" in look(root).entries


def test_a_linked_work_tree(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    (tmp_path / "linked" / "only.py").write_text("")
    seen = look(tmp_path / "linked")
    assert sorted(seen.entries) == [b"a.py", b"lib/b.py", b"only.py"]
    assert seen.tree.listing.branch == "other"


def test_a_sparse_checkout_has_what_is_there(root: Path) -> None:
    git(root, "sparse-checkout", "set", "--no-cone", "a.py")
    assert paths(root) == ["a.py"]


def test_files_in_conflict_are_taken_as_they_are(root: Path) -> None:
    git(root, "checkout", "-qb", "side")
    (root / "a.py").write_text("side\n")
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    (root / "a.py").write_text("main\n")
    git(root, "commit", "-qam", "main")
    with pytest.raises(Exception, match="non-zero"):
        git(root, "merge", "side")
    assert paths(root) == ["a.py", "lib/b.py"]


def test_from_a_directory_inside_the_whole_work_tree_is_taken(root: Path) -> None:
    seen = look(root / "lib")
    assert (seen.tree.root, seen.tree.inside) == (os.fsencode(root), b"lib")
    assert sorted(seen.entries) == [b"a.py", b"lib/b.py"]


def test_an_ignored_working_directory_is_empty_in_the_snapshot(root: Path) -> None:
    (root / ".gitignore").write_text("out\n")
    (root / "out").mkdir()
    (root / "out" / "x").write_text("")
    seen = look(root / "out")
    assert seen.entries[b"out"].kind == DIRECTORY
    assert seen.tree.notes == ["out is ignored, so it is empty in the snapshot"]


def test_links_are_left_out_whether_tracked_or_not(root: Path) -> None:
    (root / "data").mkdir()
    (root / "data" / "big").write_text("")
    assert paths(root, "lib", "data") == ["a.py"]


def test_variables_that_point_git_elsewhere_do_not_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other", "wrong.py")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert paths(root) == ["a.py", "lib/b.py"]


def test_nothing_is_written_to_the_repository(root: Path) -> None:
    before = (root / ".git" / "index").stat().st_mtime_ns
    (root / "a.py").touch()
    look(root)
    assert (root / ".git" / "index").stat().st_mtime_ns == before


def test_without_git_everything_is_taken_and_that_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".gitignore").write_text("*.log\n")
    (root / "x.log").write_text("")
    monkeypatch.setenv("PATH", "/nowhere")
    seen = look(root / "lib")
    assert sorted(seen.entries) == [b".gitignore", b"a.py", b"lib/b.py", b"x.log"]
    assert "git is not installed" in seen.tree.notes[0]
    assert seen.tree.listing.changed is None


def test_a_repository_of_another_user_is_refused_with_what_to_do(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UserError, match="belongs to another user") as refused:
        look(root)
    assert f"git config --global --add safe.directory {root}" in str(refused.value)


def test_a_broken_repository_is_refused_with_the_words_of_git(root: Path) -> None:
    (root / ".git" / "index").write_bytes(b"nonsense")
    with pytest.raises(UserError, match=r"git cannot list .*: (fatal|error): "):
        look(root)


def test_an_empty_git_directory_is_not_a_repository(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / ".git").mkdir(parents=True)
    (plain / "x").write_text("")
    assert paths(plain) == ["x"]
    assert look(plain).entries[b"x"].kind == FILE


def test_the_state_directory_of_tarmac_is_never_part_of_it(root: Path, tmp_path: Path) -> None:
    (root / "home" / "checkouts").mkdir(parents=True)
    (root / "home" / "tarmac.db").write_text("")
    assert sorted(look(root, state=str(root / "home")).entries) == [b"a.py", b"lib/b.py"]
    (tmp_path / "plain").mkdir()
    shutil.move(root / "home", tmp_path / "plain" / "home")
    assert look(tmp_path / "plain", state=str(tmp_path / "plain" / "home")).entries == {}


@pytest.mark.parametrize("below", ["", "secrets", "checkouts", "checkouts/7"])
def test_a_directory_in_tarmacs_own_one_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "home" / below).mkdir(parents=True)
    with pytest.raises(UserError, match="is in Tarmac's own directory"):
        look(tmp_path / "home" / below, state=str(tmp_path / "home"))
    repository(tmp_path / "home" / "repository")
    with pytest.raises(UserError, match="is in Tarmac's own directory"):
        look(tmp_path / "home" / "repository", state=str(tmp_path / "home"))


def test_a_job_submits_from_its_checkout_and_takes_nothing_else_along(root: Path) -> None:
    home = root / "..home"  # in a work tree, which is not the one of the checkout
    inside = home / "checkouts" / "7" / "project"
    inside.mkdir(parents=True)
    (home / "tarmac.db").write_text("")
    (inside / "x").write_text("")
    assert sorted(look(inside, state=str(home)).entries) == [b"x"]
    assert sorted(look(root, state=str(home)).entries) == [b"a.py", b"lib/b.py"]
    repository(inside / "own", "y")
    assert sorted(look(inside / "own", state=str(home)).entries) == [b"y"]


def test_pipes_are_left_out_with_a_message_unless_they_are_ignored(root: Path) -> None:
    (root / ".gitignore").write_text("*.tmp\n")
    (root / "new").mkdir()
    for name in ("fifo", "lib/fifo", "new/fifo", "lib/x.tmp", "linked"):
        os.mkfifo(root / name)
    told = [f"{name} is a pipe and is not part of the snapshot" for name in ("fifo", "lib/fifo", "new/fifo")]
    assert look(root, "linked").tree.notes == told
    assert look(root, "linked").tree.notes == told, "also if the tree is known"
