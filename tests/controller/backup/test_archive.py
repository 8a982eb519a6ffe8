"""The file of a backup: what is in it comes out unchanged, and anything else is refused."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from tarmac.controller.backup.archive import ArchiveWriter, extract
from tarmac.refusal import Refused


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    for name, body in (("db", b"database" * 1000), ("key", b"\0\1\2")):
        (tmp_path / name).write_bytes(body)
    path = tmp_path / "backup.tar"
    with path.open("wb") as file:
        archive = ArchiveWriter(file)
        assert archive.add_file("tarmac.db", tmp_path / "db")
        assert archive.add_file("secrets/key", tmp_path / "key")
        assert not archive.add_file("config.toml", tmp_path / "missing")
        archive.finish({"schema": 8})
    return path


def refusal(path: Path, folder: Path) -> str:
    with pytest.raises(Refused) as refused:
        extract(path, folder)
    return refused.value.key


def test_what_was_saved_comes_out(backup: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    manifest = extract(backup, out)
    assert (manifest["schema"], set(manifest["files"])) == (8, {"tarmac.db", "secrets/key"})
    assert (out / "tarmac.db").read_bytes() == b"database" * 1000
    assert (out / "secrets" / "key").read_bytes() == b"\0\1\2"
    assert (out / "secrets" / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("size", [0, 100, 600, 3000, 9000])
def test_a_file_that_was_cut_is_refused(backup: Path, tmp_path: Path, size: int) -> None:
    os.truncate(backup, size)
    assert refusal(backup, tmp_path / "out") in {"backup.not_ours", "backup.damaged"}


def test_a_changed_byte_is_noticed(backup: Path, tmp_path: Path) -> None:
    content = bytearray(backup.read_bytes())
    content[content.index(b"databasedatabase")] = ord("D")
    backup.write_bytes(content)
    assert refusal(backup, tmp_path / "out") == "backup.damaged"


@pytest.mark.parametrize("content", [b"", b"hello\n", b"SQLite format 3\0" + b"\0" * 4096])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert refusal(path, tmp_path / "out") == "backup.not_ours"


def archived(path: Path, members: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.type, info.linkname = (
                len(body),
                kind if name != "tarmac-backup" else tarfile.REGTYPE,
                "/etc",
            )
            tar.addfile(info, io.BytesIO(body))
    return path


MARK = json.dumps({"tarmac_backup": 1}).encode()


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "secrets/../../evil", "secrets/a/b", "agent/node", "secrets/.."]
)
def test_nothing_is_written_elsewhere(tmp_path: Path, name: str) -> None:
    path = archived(tmp_path / "evil.tar", {"tarmac-backup": MARK, name: b"x"})
    assert refusal(path, tmp_path / "a" / "out") == "backup.damaged"
    assert not list(tmp_path.rglob("evil"))


def test_links_are_refused(tmp_path: Path) -> None:
    path = archived(tmp_path / "evil.tar", {"tarmac-backup": MARK, "tarmac.db": b""}, tarfile.SYMTYPE)
    assert refusal(path, tmp_path / "out") == "backup.damaged"


def test_another_archive_and_a_newer_one_are_refused(tmp_path: Path) -> None:
    assert refusal(archived(tmp_path / "a.tar", {"README": b"x"}), tmp_path / "a") == "backup.not_ours"
    newer = archived(tmp_path / "b.tar", {"tarmac-backup": b'{"tarmac_backup": 2}'})
    assert refusal(newer, tmp_path / "b") == "backup.newer"
