"""Accepts checked jobs: their ids are answered once the jobs are on disk, and a repeated token gives the same ids."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.decision import Decision
from tarmac.store.writer import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tarmac.controller.engine import Engine
    from tarmac.core.events import JobsSubmitted
    from tarmac.core.state import State
    from tarmac.store.reader import Reader


class Token(NamedTuple):
    owner: str
    text: str  # the owner's client generates a new one for each submit


class Submissions:
    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine = engine
        self._reader = reader
        self._under_way: dict[Token, asyncio.Future[range]] = {}

    def answered(self, token: Token | None) -> range | None:
        """The ids that an earlier submit with this token got."""
        return None if token is None else self._reader.submission(*token)

    async def submit(
        self,
        event: JobsSubmitted,
        environments: Mapping[str, bytes],
        token: Token | None,
        check: Callable[[State], None] = lambda _: None,
    ) -> range:
        """The ids, once the jobs are on disk. `check` sees the newest state and may raise Refused."""
        if (known := self.answered(token)) is not None:
            return known
        if token is not None and token in self._under_way:
            return await asyncio.shield(self._under_way[token])

        def plan(state: State) -> Decision[range]:
            check(state)
            ids = range(state.next_id, state.next_id + len(event.specs))
            submission = None if token is None else self._submission(token, ids)
            return Decision(answer=ids, events=[event], environments=environments, submission=submission)

        committed = self._engine.begin(plan)
        if token is not None:
            self._under_way[token] = committed
            committed.add_done_callback(lambda _: self._under_way.pop(token))
        # The client may go away; its jobs are committed all the same.
        return await asyncio.shield(committed)

    def _submission(self, token: Token, ids: range) -> Submission:
        return Submission(
            owner=token.owner, token=token.text, first_id=ids.start, count=len(ids), at=self._engine.now()
        )
