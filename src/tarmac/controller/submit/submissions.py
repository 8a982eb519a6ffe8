"""Accepts checked jobs: their ids are answered once the jobs are on disk, and a repeated token gives the same ids."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.engine.decision import Decision
from tarmac.controller.submit.paths.path_templates import IdsMoved
from tarmac.store.batch import Submission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.submit.groups import GroupPlan
    from tarmac.core.events import JobsSubmitted
    from tarmac.core.state import State
    from tarmac.store.environments.environments import StoredEnvironment
    from tarmac.store.reader import Reader


MANY = 50_000  # jobs of one submit


class Token(NamedTuple):
    owner: str
    text: str  # the owner's client generates a new one for each submit


class Submissions:
    def __init__(self, engine: Engine, reader: Reader) -> None:
        self._engine = engine
        self._reader = reader
        self._turn = asyncio.Lock()
        self._under_way: dict[Token, asyncio.Future[range]] = {}

    def answered(self, token: Token | None) -> range | None:
        """The ids that an earlier submit with this token got."""
        return None if token is None else self._reader.submission(*token)

    def alone(self) -> AbstractAsyncContextManager[None]:
        """Meanwhile other submits wait, so that they do not move the ids."""
        return self._turn

    async def submit(
        self,
        event: JobsSubmitted,
        environments: Mapping[str, StoredEnvironment],
        token: Token | None,
        check: Callable[[State], None] = lambda _: None,
        group: GroupPlan | None = None,
        first_id: int | None = None,
        *,
        is_alone: bool = False,
    ) -> range:
        """The ids, once the jobs are on disk. `check` sees the newest state and may raise Refused.

        Raises IdsMoved if the first of them is not `first_id`.
        """
        if not is_alone:
            async with self._turn:
                pass
        if (known := self.answered(token)) is not None:
            return known
        if token is not None and token in self._under_way:
            return await asyncio.shield(self._under_way[token])

        def plan(state: State) -> Decision[range]:
            if first_id is not None and state.next_id != first_id:
                raise IdsMoved
            check(state)
            ids = range(state.next_id, state.next_id + len(event.specs))
            submission = None if token is None else self._submission(token, ids)
            now, owner = self._engine.now(), event.specs[0].owner
            stored = None if group is None else group.stored(ids.start, owner, now)
            return Decision(answer=ids, events=[event], environments=environments, submission=submission, group=stored)

        committed = self._engine.begin(plan)
        if token is not None:
            self._under_way[token] = committed
            committed.add_done_callback(lambda _: self._under_way.pop(token))
        # The client may go away; its jobs are committed all the same.
        ids = await asyncio.shield(committed)
        if len(ids) >= MANY:
            # These jobs stay for long, and a look at a million of them takes a third of a second: look once.
            gc.collect()  # frozen garbage would stay for good
            gc.freeze()
        return ids

    def _submission(self, token: Token, ids: range) -> Submission:
        return Submission(
            owner=token.owner, token=token.text, first_id=ids.start, count=len(ids), at=self._engine.now()
        )
