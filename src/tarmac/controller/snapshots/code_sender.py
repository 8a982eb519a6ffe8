"""Sends the code of jobs to nodes on other machines, before their start frames: only the objects that a node lacks.

Nothing about it is stored. If the link is cut, or a process is killed, the node joins again, the core repeats the
start, and the node is asked once more what it lacks. One tree at a time travels to a node, in small pieces.
"""

from __future__ import annotations

import asyncio
import logging
from base64 import b64encode
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from tarmac.controller.snapshots.paths import object_file
from tarmac.controller.snapshots.tree_objects import next_pack, objects_of
from tarmac.nodes.pace import Pace
from tarmac.nodes.steady import NodeLeft, ask_steadily
from tarmac.shared import crashpoint
from tarmac.shared.snapshots.damage_message import damaged
from tarmac.shared.snapshots.objects import BrokenSnapshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from tarmac.controller.snapshots.tree_objects import Pack, TreeObject
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.status import RunName
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.to_agent import QuestionFrame

log = logging.getLogger(__name__)

HASHES_PER_QUESTION = 4096
VERIFIED_BYTES = 32 << 20  # that a node reads for one answer, which must not take long
MOST_TRIES = 3  # for an object that does not arrive as it was sent


class CannotCopy(Exception):
    """The message is for the owner of the job."""

    def __init__(self, message: str, *, is_full: bool = False) -> None:
        super().__init__(message)
        self.is_full = is_full


class CodeProgress(NamedTuple):
    node: NodeName
    sent_bytes: int
    total_bytes: int | None  # None: the node was not asked yet


class _ArrivedBroken(Exception):
    """The object must be sent again."""


class _Missing(msgspec.Struct):
    places: list[int]


class _Added(msgspec.Struct):
    error: str | None
    is_full: bool
    is_broken: bool


class _Sending:
    """The code of one attempt, on its way."""

    def __init__(self, node: NodeName, tree: str) -> None:
        self.node = node
        self.tree = tree
        self.sent_bytes = 0
        self.total_bytes: int | None = None
        self.task: asyncio.Task[None] | None = None


class CodeSender:
    def __init__(self, fleet: Fleet, state_folder: Path) -> None:
        self._fleet = fleet
        self._path = object_file(state_folder)
        self._sendings: dict[tuple[RunName, NodeName], _Sending] = {}  # by attempt and node: it may have several
        self._turns: dict[NodeName, asyncio.Lock] = {}
        self._complete: dict[NodeName, tuple[object, set[str]]] = {}  # trees, of the node's present connection
        self._paces: dict[NodeName, Pace] = {}

    def is_needed(self, node: NodeName) -> bool:
        return self._fleet.is_elsewhere(node)

    def send(
        self,
        run: RunName,
        node: NodeName,
        tree: str,
        arrived: Callable[[], None],
        failed: Callable[[CannotCopy], None],
    ) -> None:
        """Call `arrived` once the node has the code, or `failed`; neither if the node leaves or it is stopped."""
        self.stop(run, node)  # it was away for a moment
        sending = self._sendings[run, node] = _Sending(node, tree)
        sending.task = asyncio.create_task(self._send(run, sending, arrived, failed))

    def stop(self, run: RunName, node: NodeName) -> bool:
        """True if its code was on its way: then the node does not know the attempt."""
        sending = self._sendings.pop((run, node), None)
        if sending is None or sending.task is None:
            return False
        sending.task.cancel()
        return True

    def of(self, job: JobId) -> CodeProgress | None:
        """How far the code of a job is that waits for it."""
        found = (sending for (run, _), sending in self._sendings.items() if run.job == job)
        sending = next(found, None)
        return None if sending is None else CodeProgress(sending.node, sending.sent_bytes, sending.total_bytes)

    def end(self) -> None:
        for run, node in list(self._sendings):
            self.stop(run, node)

    @asynccontextmanager
    async def alone(self, node: NodeName) -> AsyncIterator[None]:
        """While nothing is sent to the node. Afterwards it is asked anew what it has."""
        async with self._turn(node):
            yield
            self._complete.pop(node, None)

    def _turn(self, node: NodeName) -> asyncio.Lock:
        return self._turns.setdefault(node, asyncio.Lock())

    async def _send(
        self, run: RunName, sending: _Sending, arrived: Callable[[], None], failed: Callable[[CannotCopy], None]
    ) -> None:
        outcome: CannotCopy | None = None
        try:
            async with self._turn(sending.node):
                await self._deliver(sending, verify=run.attempt > 1)
        except NodeLeft:  # the core repeats the start when the node is back
            if self._sendings.get((run, sending.node)) is sending:
                del self._sendings[run, sending.node]
            return
        except CannotCopy as error:
            outcome = error
        except BrokenSnapshot as error:
            outcome = CannotCopy(damaged(error))
        except Exception as error:
            log.exception("job %s: its code cannot be sent to %s", run.job, sending.node)
            outcome = CannotCopy(str(error))
        if self._sendings.get((run, sending.node)) is not sending:
            return  # stopped
        del self._sendings[run, sending.node]
        if outcome is None:
            arrived()
        else:
            failed(outcome)

    # One tree

    async def _deliver(self, sending: _Sending, *, verify: bool) -> None:
        """`verify`: let the node read what it has. A copy that was damaged there is replaced by a retry of the job."""
        known = self._known(sending.node)
        if sending.tree in known and not verify:
            return
        objects = await asyncio.to_thread(objects_of, self._path, sending.tree)
        missing = await self._missing(sending.node, objects, verify=verify)
        sending.total_bytes = sum(one.bytes for one in missing)
        pace = self._paces.setdefault(sending.node, Pace())
        while missing:
            pack = await asyncio.to_thread(next_pack, self._path, missing, pace.bytes)
            crashpoint.reach("controller:before-objects")
            await self._give_again(sending, pack, pace)
            crashpoint.reach("controller:after-objects")
            missing = missing[len(pack.objects) :]
        known.add(sending.tree)

    def _known(self, node: NodeName) -> set[str]:
        session = self._fleet.get(node)
        if session is None or not session.is_connected:
            raise NodeLeft
        connection, known = self._complete.get(node, (None, set()))
        if connection is not session.hello:
            connection, known = self._complete[node] = (session.hello, set())
        return known

    async def _missing(self, node: NodeName, objects: list[TreeObject], *, verify: bool) -> list[TreeObject]:
        found: list[TreeObject] = []
        for some in _questions(objects, VERIFIED_BYTES if verify else None):
            hashes = b64encode(b"".join(one.hash for one in some)).decode("ascii")
            frame: QuestionFrame = {
                "type": "missing_objects", "objects": self._path, "hashes": hashes, "verify": verify,
            }  # fmt: skip
            answer = await ask_steadily(self._fleet, node, frame)
            found += [some[place] for place in msgspec.convert(answer, _Missing).places]
        return found

    async def _give_again(self, sending: _Sending, pack: Pack, pace: Pace) -> None:
        """Parts of an object may get mixed up if the same one was under way when a sending was stopped."""
        for left in reversed(range(MOST_TRIES)):
            try:
                await self._give(sending, pack, pace)
            except _ArrivedBroken as error:
                if not left:
                    raise CannotCopy(str(error)) from None
            else:
                return

    async def _give(self, sending: _Sending, pack: Pack, pace: Pace) -> None:
        if pack.is_packed:
            data = b64encode(pack.data).decode("ascii")
            await self._timed(sending, {"type": "add_objects", "objects": self._path, "pack": data}, pace)
            sending.sent_bytes += len(pack.data)
            return
        offset, size, digest = 0, len(pack.data), pack.objects[0].hash.hex()
        while offset < size:
            part = pack.data[offset : offset + pace.bytes]
            await self._timed(
                sending,
                {
                    "type": "add_object_part",
                    "objects": self._path,
                    "hash": digest,
                    "offset": offset,
                    "size": size,
                    "data": b64encode(part).decode("ascii"),
                },
                pace,
            )
            offset += len(part)
            sending.sent_bytes += len(part)

    async def _timed(self, sending: _Sending, frame: QuestionFrame, pace: Pace) -> None:
        began = monotonic()
        answer = msgspec.convert(await ask_steadily(self._fleet, sending.node, frame), _Added)
        if answer.is_broken:
            raise _ArrivedBroken(answer.error)
        if answer.error is not None:
            raise CannotCopy(answer.error, is_full=answer.is_full)
        pace.took(monotonic() - began)


def _questions(objects: list[TreeObject], most_bytes: int | None) -> Iterator[list[TreeObject]]:
    """The objects in pieces that a node can answer for quickly."""
    some: list[TreeObject] = []
    size = 0
    for one in objects:
        if some and (len(some) == HASHES_PER_QUESTION or (most_bytes is not None and size + one.bytes > most_bytes)):
            yield some
            some, size = [], 0
        some.append(one)
        size += one.bytes
    if some:
        yield some
