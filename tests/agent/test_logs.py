"""Logs read through the agent: in chunks, from the end, and as they grow, with any content."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.agent import logs
from tests.agent_peer import AgentPeer, Site

MIB = 1024 * 1024


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """One agent: the kind of containment does not matter here."""
    site = Site(tmp_path, "scan")
    site.boot()
    yield site
    site.clean_up()


def tail(peer: AgentPeer, path: Path, lines: int) -> bytes:
    """Return the last lines, up to 1 MiB of them."""
    found = peer.ask("tail_log", "log_tail", path=str(path), lines=lines)
    return read(peer, path, found["offset"], MIB)


def read(peer: AgentPeer, path: Path, offset: int, limit: int) -> bytes:
    return base64.b64decode(peer.ask("read_log", "log", path=str(path), offset=offset, limit=limit)["data"])


def test_pieces_are_read_at_any_offset(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    answer = peer.ask("read_log", "log", path=str(path), offset=3, limit=4)
    assert (answer["offset"], answer["size"], base64.b64decode(answer["data"])) == (3, 10, b"3456")
    assert read(peer, path, 100, 4) == b""


def test_any_bytes_come_through(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bytes(range(256)) + b"\xff\xfe\r\n")
    assert read(peer, path, 0, 1000) == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "lines", "expected"),
    [
        (b"a\nb\nc\n", 2, b"b\nc\n"),
        (b"a\nb\nc", 2, b"b\nc"),
        (b"a\nb\n", 10, b"a\nb\n"),
        (b"a\nb\n", 0, b""),
        (b"", 5, b""),
        (b"\n\n\n", 2, b"\n\n"),
        (b"x" * 3_000_000 + b"\nend\n", 1, b"end\n"),
        (b"first\n" + b"y\n" * 1_500_000, 2, b"y\ny\n"),
    ],
)
def test_last_lines_are_found(
    site: Site, peer: AgentPeer, tmp_path: Path, content: bytes, lines: int, expected: bytes
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    assert tail(peer, path, lines) == expected


def test_gigabyte_in_one_line_is_searched_in_bounded_memory(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(1024 * MIB)
    before = resident_bytes(site.agent.pid)
    found = peer.ask("tail_log", "log_tail", path=str(path), lines=10)
    assert (found["size"], found["offset"]) == (1024 * MIB, (1024 - 64) * MIB)
    assert len(read(peer, path, found["offset"], 1024 * MIB)) == 4 * MIB
    assert resident_bytes(site.agent.pid) - before < 40 * MIB


def test_a_search_that_takes_too_long_says_that_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_MAX_SEARCH_S", -1.0)
    log = tmp_path / "log"
    log.write_bytes(b"first\n" + b"." * (3 << 20))
    answer = logs.find_tail({"type": "tail_log", "ref": 1, "path": str(log), "lines": 2})
    assert "is_cut" in answer
    assert answer["is_cut"]
    assert answer["offset"] > 0


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(("kind", "answer"), [("read_log", "log"), ("tail_log", "log_tail")])
def test_unreadable_file_is_reported_with_the_reason(
    site: Site, peer: AgentPeer, tmp_path: Path, kind: str, answer: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, why in {"missing": "No such file or directory", "fifo": "is not a regular file"}.items():
        path = str(tmp_path / name)
        assert peer.ask(kind, answer, path=path, offset=0, limit=10, lines=1)["error"] == f"{path}: {why}"


def test_growth_is_reported_once(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    peer.send(type="watch_log", ref=3, path=str(path), offset=5)
    peer.settle()
    with path.open("ab") as file:
        file.write(b"6")
        file.flush()
        assert peer.expect("log_grew", ref=3)["size"] == 6
        file.write(b"7")
    peer.settle()
    assert not [message for message in peer.inbox if message["type"] == "log_grew"]


def test_file_that_has_already_grown_is_reported_at_once(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"12345")
    peer.send(type="watch_log", ref=3, path=str(path), offset=0)
    assert peer.expect("log_grew", ref=3)["size"] == 5


def test_file_that_does_not_exist_yet_is_awaited(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "later"):
        path = folder / "log"
        peer.send(type="watch_log", ref=3, path=str(path), offset=0)
        peer.settle()
        folder.mkdir(exist_ok=True)
        path.write_bytes(b"1")
        assert peer.expect("log_grew", ref=3)["size"] == 1


def test_one_of_several_watchers_of_a_file_can_stop(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    for ref in (1, 2, 3):
        peer.send(type="watch_log", ref=ref, path=str(path), offset=0)
    peer.send(type="unwatch_log", ref=2)
    peer.settle()
    path.write_bytes(b"1")
    peer.expect("log_grew", ref=1)
    peer.expect("log_grew", ref=3)
    peer.settle()
    assert not [message for message in peer.inbox if message["type"] == "log_grew"]
