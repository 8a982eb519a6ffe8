"""Copies of files from a node: what arrives, what is left out and why, and how an interrupted copy goes on."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from tarmac.controller.fetch.copy import FileCopy
from tarmac.controller.fetch.record import FetchRecord, FetchRecords, PartFile
from tarmac.nodes import pace, steady
from tarmac.nodes.steady import NodeLeft
from tests.controller.fetch.answering_node import AnsweringNode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "RETRY_S", 0.0)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    (folder / "out" / "deep").mkdir(parents=True)
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def a_record(there: Path, here: Path, *paths: str) -> FetchRecord:
    return FetchRecord(job=7, attempt=1, node="gpu02", directory=str(there), target=str(here), paths=list(paths))


def copy(record: FetchRecord, node: AnsweringNode | None = None, code: Any = lambda _: False) -> FetchRecord:
    asyncio.run(FileCopy(node or AnsweringNode(), record, lambda: None, code).run())  # type: ignore[arg-type]
    return record


def kinds(record: FetchRecord) -> list[tuple[str, str]]:
    return [(problem.path, problem.kind) for problem in record.problems]


def test_files_directories_and_links_arrive(there: Path, here: Path) -> None:
    (there / "out" / "deep" / "model").write_bytes(os.urandom(300_000))
    (there / "out" / "run").write_text("#!/bin/sh\n")
    (there / "out" / "run").chmod(0o755)
    (there / "out" / "last").symlink_to("deep/model")
    (there / "out" / "empty").mkdir()
    (there / "single").write_text("")
    record = copy(a_record(there, here, "out", "single"))
    assert (record.files, record.problems) == (4, [])
    assert (here / "out" / "last").read_bytes() == (there / "out" / "deep" / "model").read_bytes()
    assert (here / "out" / "run").stat().st_mode & 0o777 == 0o755
    assert (here / "out" / "empty").is_dir()
    assert sorted(os.listdir(here / "out")) == ["deep", "empty", "last", "run"]
    again = a_record(there, here, "out", "single")
    copy(again)
    assert (again.files, again.same, again.bytes) == (0, 4, 0)


def test_what_is_not_copied_is_listed_with_the_reason(there: Path, here: Path) -> None:
    (there / "out" / "good").write_text("good")
    (there / "out" / "away").symlink_to("../../secret")
    (there / "out" / "mine").write_text("theirs")
    os.mkfifo(there / "out" / "pipe")
    os.utime(there / "out" / "mine", (1000, 1000))
    (here / "out").mkdir()
    (here / "out" / "mine").write_text("mine")
    (here / "out" / "deep").write_text("a file")
    record = copy(a_record(there, here, "none", "out"))
    assert kinds(record) == [
        ("none", "missing"), ("out/away", "link"), ("out/mine", "newer"), ("out/pipe", "special"),
        ("out/deep", "in_the_way"),
    ]  # fmt: skip
    assert record.files == 1
    assert (here / "out" / "mine").read_text() == "mine"


def test_code_that_the_job_did_not_change_is_left_out(there: Path, here: Path) -> None:
    (there / "out" / "train.py").write_text("old")
    record = copy(a_record(there, here, "out"), code=lambda one: one.path == "out/train.py")
    assert (record.files, record.same) == (0, 1)
    assert not (here / "out" / "train.py").exists()


@pytest.mark.parametrize("answers", range(1, 12))
def test_an_interrupted_copy_goes_on_where_it_was(
    there: Path, here: Path, answers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut after any number of answers, with a controller that forgets everything but the record on disk."""
    monkeypatch.setattr(pace, "LEAST_BYTES", 1000)
    monkeypatch.setattr(pace, "MOST_BYTES", 1000)
    for name in ("a", "b"):
        (there / "out" / name).write_bytes(os.urandom(4500))
    files = FetchRecords(here.parent)
    record, node = a_record(there, here, "out"), AnsweringNode(answers)
    with pytest.raises(NodeLeft):
        asyncio.run(FileCopy(node, record, lambda: files.store(record), lambda _: False).run())  # type: ignore[arg-type]
    record = files.load().get(7, record)
    record.begin_again()
    node.join_again()
    before = len(node.asked)
    copy(record, node)
    assert all((here / "out" / name).read_bytes() == (there / "out" / name).read_bytes() for name in ("a", "b"))
    assert sorted(os.listdir(here / "out")) == ["a", "b", "deep"]
    reads = sum(frame["type"] == "read_file" for frame in node.asked[before:])
    copied = sum(frame["type"] == "read_file" for frame in node.asked[:before])
    assert reads == 10 - copied


def test_a_part_of_another_version_of_the_file_is_not_continued(there: Path, here: Path) -> None:
    (there / "out" / "a").write_bytes(b"new content")
    (here / "out").mkdir()
    (here / "out" / ".tarmac-fetch-7.part").write_bytes(b"old")
    record = a_record(there, here, "out/a")
    record.part = PartFile(path="out/a", size=11, mtime_ns=5)
    copy(record)
    assert (here / "out" / "a").read_bytes() == b"new content"


def test_a_file_that_keeps_changing_is_given_up(there: Path, here: Path) -> None:
    changing = there / "out" / "a"
    changing.write_bytes(b"x")

    class Writing(AnsweringNode):
        async def ask(self, node: str, frame: dict[str, Any]) -> Any:
            if frame["type"] == "read_file":
                with changing.open("ab") as file:
                    file.write(b"x")
            return await super().ask(node, frame)

    record = copy(a_record(there, here, "out"), Writing())
    assert kinds(record) == [("out/a", "changing")]
    assert os.listdir(here / "out") == ["deep"]


def test_names_may_be_any_bytes(there: Path, here: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (there / "out" / name).write_text("in Latin-1")
    (there / "out" / f"{name}-link").symlink_to(f"/{name}")
    files, record = FetchRecords(here.parent), a_record(there, here, "out")
    asyncio.run(FileCopy(AnsweringNode(), record, lambda: files.store(record), lambda _: False).run())  # type: ignore[arg-type]
    assert (here / "out" / name).read_text() == "in Latin-1"
    files.store(record)
    (problem,) = files.load()[7].problems
    assert (problem.path, problem.detail) == ("out/caf\\udce9-link", "/caf\\udce9")


def test_a_file_that_vanishes_leaves_no_part(there: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LEAST_BYTES", 1000)
    gone = there / "out" / "deep" / "gone"
    gone.write_bytes(b"x" * 4500)
    (there / "stays").write_text("stays")

    class Removing(AnsweringNode):
        async def ask(self, node: str, frame: dict[str, Any]) -> Any:
            answer = await super().ask(node, frame)
            if frame["type"] == "read_file":
                gone.unlink(missing_ok=True)
            return answer

    record = copy(a_record(there, here, "out", "stays"), Removing())
    assert kinds(record) == [("out/deep/gone", "unreadable")]
    assert (os.listdir(here / "out" / "deep"), (here / "stays").read_text()) == ([], "stays")


def test_records_survive_and_damaged_ones_are_dropped(tmp_path: Path) -> None:
    files = FetchRecords(tmp_path)
    assert files.load() == {}
    record = a_record(tmp_path, tmp_path, "out")
    files.store(record)
    (tmp_path / "fetches" / "8.json").write_text("{")
    assert files.load() == {7: record}
    assert os.listdir(tmp_path / "fetches") == ["7.json"]
    files.remove(7)
    assert files.load() == {}
