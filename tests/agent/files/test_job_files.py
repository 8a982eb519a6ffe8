"""Listing and reading files for --fetch: nothing outside of the job's directory is ever read."""

from __future__ import annotations

import os
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import pytest

from tarmac.agent.files import job_files
from tarmac.agent.files.job_files import list_files, read_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("secret")
    made = tmp_path / "job"
    (made / "out" / "deep").mkdir(parents=True)
    (made / "out" / "b").write_text("content")
    (made / "out" / "a").write_text("")
    (made / "out" / "b").chmod(0o640)
    (made / "out" / "link").symlink_to("../../secret")
    (made / "away").symlink_to(tmp_path)
    os.mkfifo(made / "out" / "pipe")
    return made


def listed(folder: Path, name: str, after: str | None = None) -> Any:
    return list_files({"type": "list_files", "ref": 1, "directory": str(folder), "name": name, "after": after})


def read(folder: Path, name: str, offset: int = 0, limit: int = 100) -> Any:
    return read_file(
        {"type": "read_file", "ref": 1, "directory": str(folder), "name": name, "offset": offset, "limit": limit}
    )


def test_a_directory_is_described_with_its_entries_in_order(folder: Path) -> None:
    answer = listed(folder, "out")
    assert answer["found"]["kind"] == "directory"
    kinds = {entry["name"]: entry["kind"] for entry in answer["entries"]}
    assert list(kinds.items()) == [
        ("a", "file"), ("b", "file"), ("deep", "directory"), ("link", "link"), ("pipe", "other"),
    ]  # fmt: skip
    b = answer["entries"][1]
    assert (b["size"], b["mode"], b["mtime_ns"]) == (7, 0o640, (folder / "out" / "b").stat().st_mtime_ns)
    assert answer["entries"][3]["target"] == "../../secret"


def test_a_large_directory_comes_in_several_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_files, "MOST_ENTRIES", 2)
    names, after, has_more = [], None, True
    while has_more:
        answer = listed(folder, "out", after)
        names += [entry["name"] for entry in answer["entries"]]
        after, has_more = names[-1], answer["has_more"]
    assert names == ["a", "b", "deep", "link", "pipe"]


def test_the_directory_itself_and_missing_paths(folder: Path) -> None:
    assert [entry["name"] for entry in listed(folder, ".")["entries"]] == ["away", "out"]
    assert listed(folder, "none/deep")["found"] is None
    assert listed(folder / "none", "out")["found"] is None


def test_a_file_is_read_in_pieces(folder: Path) -> None:
    first, second, end = (read(folder, "out/b", offset, 4) for offset in (0, 4, 7))
    assert b64decode(first["data"]) + b64decode(second["data"]) + b64decode(end["data"]) == b"content"
    assert first["size"] == 7


@pytest.mark.parametrize("name", ["../secret", "out/../../secret", "away/secret", "/etc/passwd", "out//b", ""])
def test_no_path_leads_out(folder: Path, name: str) -> None:
    assert read(folder, name)["error"]
    assert listed(folder, name)["error"]


@pytest.mark.parametrize("name", ["out/link", "out/pipe", "out", "out/none"])
def test_only_regular_files_are_read(folder: Path, name: str) -> None:
    answer = read(folder, name)
    assert answer["error"]
    assert answer["data"] == ""
