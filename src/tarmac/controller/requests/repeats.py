"""Answers kept by the key of their request: a client that lost the connection repeats it and gets the same answer.

The answer is committed together with what it is about, so that a repetition is never carried out a second time.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from tarmac.store.batch import KeptAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tarmac.controller.engine.decision import Decision, Plan
    from tarmac.controller.engine.engine import Engine
    from tarmac.core.state import State
    from tarmac.store.reader import Reader

T = TypeVar("T")
CARRIED_OUT = b""  # kept where the answer is read from the state again


class Key(NamedTuple):
    owner: str
    text: str  # method and path of the request, and what the owner's client generates for each request

    def of_part(self, number: int) -> Key:
        """The key of a part of the request. No request has it: the text of a request begins with its method."""
        return Key(self.owner, f"part {number} of {self.text}")


class _Turn:
    """Lets one request after the other pass. Forgotten when the last of them is answered."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class Repeats:
    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine = engine
        self._reader = reader
        self._turns: dict[Key, _Turn] = {}

    def kept(self, key: Key | None) -> bytes | None:
        """The answer to an earlier request with this key; CARRIED_OUT if it must be formed again."""
        return None if key is None else self._reader.kept_answer(*key)

    @asynccontextmanager
    async def turn(self, key: Key) -> AsyncIterator[None]:
        """Let a repetition wait while the first request with its key is under way."""
        turn = self._turns.setdefault(key, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[key]

    @property
    def under_way(self) -> int:
        return len(self._turns)

    def keeping(self, key: Key | None, plan: Plan[T], *, is_answer: bool, is_begun: bool = False) -> Plan[T]:
        """The plan, with its answer kept by the key. Without `is_answer`, only that it was carried out is kept.

        `is_begun`: earlier decisions carried out parts of the request.
        """
        if key is None:
            return plan

        def keeping_plan(state: State) -> Decision[Any]:
            decision = plan(state)
            if not (is_begun or decision.events or decision.removed or decision.settings or decision.templates):
                return decision  # a repetition changes nothing either
            body = msgspec.json.encode(decision.answer) if is_answer else CARRIED_OUT
            return replace(decision, kept=KeptAnswer(owner=key.owner, key=key.text, at=self._engine.now(), answer=body))

        return keeping_plan
