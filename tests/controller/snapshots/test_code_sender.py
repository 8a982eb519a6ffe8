"""Code on its way to a node: only what is missing travels, and a cut after any piece loses nothing."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from pathlib import Path

import pytest

from tarmac.controller.snapshots.code_sender import CannotCopy, CodeSender
from tarmac.controller.snapshots.paths import OBJECTS
from tarmac.controller.snapshots.tree_objects import objects_of
from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.status import RunName
from tarmac.nodes import pace, steady
from tarmac.shared.snapshots.damage_message import says_damaged
from tarmac.shared.snapshots.object_file import ObjectFile
from tarmac.shared.snapshots.objects import hash_of
from tests.controller.fetch.answering_node import AnsweringNode
from tests.controller.snapshots.test_snapshots import Kept
from tests.store.test_snapshots import damage

NODE = NodeName("gpu02")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "RETRY_S", 0.0)
    monkeypatch.setattr(pace, "LEAST_BYTES", 300)
    monkeypatch.setattr(pace, "MOST_BYTES", 300)


class Way:
    """From the snapshots of a controller to those of a node."""

    def __init__(self, folder: Path) -> None:
        self.kept = Kept(folder)
        self.there = str(folder / "there.db")
        self.node = AnsweringNode(path=self.there)
        self.sender = CodeSender(self.node, folder)  # type: ignore[arg-type]
        self.path = str(folder / OBJECTS)

    def send(self, tree: str, attempt: int = 1) -> str | CannotCopy | None:
        """What became of it; None if the node left."""
        found: list[str | CannotCopy] = []

        async def send() -> None:
            run = RunName(JobId(1), attempt)
            self.sender.send(run, NODE, tree, lambda: found.append("arrived"), found.append)
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

        asyncio.run(send())
        self.sender._turns.clear()  # of the loop that has ended
        assert self.sender.of(JobId(1)) is None
        return found[0] if found else None

    def is_complete(self, tree: str) -> bool:
        with closing(ObjectFile(self.there)) as objects:
            return all(objects.is_intact(one.hash) for one in objects_of(self.path, tree))

    def sent(self) -> int:
        return sum(frame["type"].startswith("add") for frame in self.node.asked)


@pytest.fixture
def way(tmp_path: Path) -> Way:
    return Way(tmp_path)


def test_all_objects_arrive_and_are_not_sent_again(way: Way) -> None:
    tree = way.kept.add(small=b"x", other=b"y" * 250, large=os.urandom(1000))
    assert way.send(tree) == "arrived"
    assert way.is_complete(tree)
    before = len(way.node.asked)
    assert way.send(tree) == "arrived"
    assert len(way.node.asked) == before  # it is known for this connection
    way.node.join_again()
    assert way.send(tree) == "arrived"
    assert {frame["type"] for frame in way.node.asked[before:]} == {"missing_objects"}


def test_only_what_changed_is_sent(way: Way) -> None:
    same = os.urandom(1000)
    assert way.send(way.kept.add(same=same, changed=b"1")) == "arrived"
    before = way.sent()
    assert before > 4
    assert way.send(way.kept.add(same=same, changed=b"2")) == "arrived"
    assert way.sent() - before == 1


@pytest.mark.parametrize("answers", range(1, 9))
def test_a_cut_after_any_piece_loses_nothing(way: Way, answers: int) -> None:
    tree = way.kept.add(small=b"x", large=os.urandom(1500))
    way.node.answers_left = answers
    if way.send(tree) is None:
        way.node.join_again()
        assert way.send(tree) == "arrived"
    assert way.is_complete(tree)
    assert not os.path.exists(f"{way.there}.part")


def test_a_retry_replaces_what_is_damaged_on_the_node(way: Way) -> None:
    tree = way.kept.add(a=b"content")
    way.send(tree)
    damage(Path(way.there), hash_of(b"content"))
    assert not way.is_complete(tree)
    assert way.send(tree, attempt=2) == "arrived"
    assert way.is_complete(tree)


def test_a_damaged_snapshot_is_reported_as_a_node_reports_it(way: Way) -> None:
    tree = way.kept.add(a=b"content")
    damage(Path(way.path), hash_of(b"content"))
    outcome = way.send(tree)
    assert isinstance(outcome, CannotCopy)
    assert says_damaged(str(outcome))


def test_a_node_that_cannot_store_it_is_named_with_the_reason(way: Way, tmp_path: Path) -> None:
    tree = way.kept.add(a=b"content")
    way.node._path = str(tmp_path / "none" / "there.db")
    outcome = way.send(tree)
    assert isinstance(outcome, CannotCopy)
    assert str(outcome) == "unable to open database file"


def test_a_stopped_sending_ends_without_a_start(way: Way) -> None:
    tree = way.kept.add(a=os.urandom(5000))
    found: list[object] = []

    async def story() -> None:
        run = RunName(JobId(1), 1)
        way.node.first_piece = asyncio.Event()
        way.sender.send(run, NODE, tree, lambda: found.append("arrived"), found.append)
        await way.node.first_piece.wait()
        assert way.sender.stop(run, NODE)
        assert not way.sender.stop(run, NODE)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)

    asyncio.run(story())
    assert found == []


def test_an_attempt_on_several_nodes_gets_its_code_on_each(way: Way) -> None:
    tree = way.kept.add(a=os.urandom(1000))
    found: list[object] = []

    async def story() -> None:
        run = RunName(JobId(1), 1)
        for node in (NODE, NodeName("gpu03")):
            way.sender.send(run, node, tree, lambda node=node: found.append(node), found.append)  # type: ignore[misc]
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(story())
    assert sorted(found) == ["gpu02", "gpu03"]  # type: ignore[type-var]
