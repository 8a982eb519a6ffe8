"""A directory without git, and what `.tarmacignore` leaves out: the same as git would."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarmac.client.snapshots.files.directory import list_directory
from tarmac.client.snapshots.files.ignore import is_ignored, parse
from tarmac.errors import UserError
from tests.client.snapshots.trees import look, paths
from tests.services import need

PATTERNS = [
    "*.log", "/top.log", "build", "build/", "docs/*.pdf", "docs/**/*.pdf", "**/cache", "a/**", "!keep.log", "x?z",
    "[ab].py", "[!ab].py", "[a-c]*", "\\#hash", "\\!bang", "# comment", "", "trailing   ", "space\\ ", "*", "!*/",
    "!*.py", "deep/er", "/deep/*", "foo*bar", "**", "a/**/z", "[]x].py", "[", "*.[oa]", "dir/sub/",
]  # fmt: skip
NAMES = [
    "a.log", "top.log", "x/top.log", "build", "y/build", "docs/a.pdf", "docs/x/a.pdf", "cache", "p/cache", "a/one",
    "a/b/z", "keep.log", "xyz", "a.py", "c.py", "#hash", "!bang", "trailing", "space ", "deep/er", "deep/other",
    "fooXbar", "].py", "x.o", "dir/sub", "z.py",
]  # fmt: skip


@given(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=4), st.sampled_from(NAMES), st.booleans())
@settings(max_examples=60, deadline=None)
def test_patterns_mean_what_they_mean_in_gitignore(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], name: str, is_directory: bool
) -> None:
    root = tmp_path_factory.getbasetemp() / "ignore"
    if not root.exists():
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("\n".join(lines) + "\n")
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir() if is_directory else path.touch()  # git looks at its type
    done = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "-q", "--no-index", "--stdin", "-z"],
        input=name.encode() + b"\0", check=False,
    )  # fmt: skip
    path.rmdir() if is_directory else path.unlink()
    assert _ignored(name.encode(), "\n".join(lines).encode(), is_directory=is_directory) == (done.returncode == 0)


def _ignored(path: bytes, text: bytes, *, is_directory: bool) -> bool:
    """Ignored, or below an ignored directory, where the walk does not come."""
    patterns = parse(text)
    parts = path.split(b"/")
    parents = [b"/".join(parts[:count]) for count in range(1, len(parts))]
    if any(is_ignored(parent, patterns, is_directory=True) for parent in parents):
        return True
    return is_ignored(path, patterns, is_directory=is_directory)


def test_files_of_a_directory_with_rules_at_every_level(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    for name in ("a.py", "x.log", "data/big", "sub/y.log", "sub/keep/z.log", "sub/only/here"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".tarmacignore").write_text("*.log\n/data/\n")
    (root / "sub" / ".tarmacignore").write_text("!y.log\nonly/\n")
    assert paths(root) == [".tarmacignore", "a.py", "sub/.tarmacignore", "sub/keep", "sub/y.log"]


def test_the_directory_itself_is_the_root(tmp_path: Path) -> None:
    (tmp_path / "above").write_text("")
    (tmp_path / "plain").mkdir()
    seen = look(tmp_path / "plain")
    assert (seen.tree.root, seen.tree.listing.changed) == (os.fsencode(tmp_path / "plain"), None)
    assert seen.entries == {}


def test_pipes_and_sockets_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    os.mkfifo(root / "fifo")
    (root / "x").write_text("")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(root)  # the whole path may be too long for a socket
        server.bind("sock")
        seen = look(root)
    assert list(seen.entries) == [b"x"]
    assert sorted(seen.tree.notes) == [
        "fifo is a pipe and is not part of the snapshot",
        "sock is a socket and is not part of the snapshot",
    ]


def test_a_linked_directory_is_not_even_looked_at(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "data" / "x").mkdir(parents=True)
    (root / "a").write_text("")
    assert list(list_directory(os.fsencode(root), [b"data"]).files) == [b"a"]


def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    need("root")
    root = tmp_path / "plain"
    root.mkdir()
    (root / "secret").write_text("")
    (root / "secret").chmod(0)
    os.chmod(tmp_path, 0o755)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            for parent in (*tmp_path.parents, tmp_path):
                os.chmod(parent, 0o755) if str(parent).startswith("/tmp/pytest") else None
            os.setresuid(65534, 65534, 65534)
            look(root)
        except UserError as error:
            code = 0 if "cannot include secret: Permission denied" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
