"""Answers that clients share: open pages ask the same questions again and again.

An answer is shared as long as it is true: until the engine decides anything, and only for a moment, because elapsed
times and what agents read change without a decision. A request that arrives while the same question is being answered
waits for that answer, which is at least as new as the request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from tarmac.api.wording.catalogue.dialect import Dialect
from tarmac.controller.requests.permissions import Caller

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.responses import Response

    from tarmac.controller.controller import Controller

SHARED_S = 0.1
LARGEST_BYTES = 1 << 20  # longer answers are dropped as soon as they are sent


class Question(NamedTuple):
    """Everything that an answer depends on besides the state."""

    path: str
    query: bytes
    caller: Caller
    dialect: Dialect


class _Shared(NamedTuple):
    generation: int  # of the engine when the question was first asked
    answering: asyncio.Task[Response]


class SharedAnswers:
    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._known: dict[Question, _Shared] = {}

    async def get(self, question: Question, answer: Callable[[], Coroutine[None, None, Response]]) -> Response:
        """The answer of another request, or a new one."""
        engine = self._controller.engine
        if not engine.is_at_rest:
            return await answer()
        known = self._known.get(question)
        if known is None or known.generation != engine.generation:
            known = _Shared(engine.generation, asyncio.create_task(answer()))
            self._known[question] = known
            known.answering.add_done_callback(lambda _: self._answered(question, known))
        if known.answering.done():
            return known.answering.result()
        return await asyncio.shield(known.answering)  # others may wait for it as well

    def _answered(self, question: Question, known: _Shared) -> None:
        answering = known.answering
        if answering.cancelled() or answering.exception() is not None or len(answering.result().body) > LARGEST_BYTES:
            self._forget(question, known)
        else:
            asyncio.get_running_loop().call_later(SHARED_S, self._forget, question, known)

    def _forget(self, question: Question, known: _Shared) -> None:
        if self._known.get(question) is known:
            del self._known[question]
