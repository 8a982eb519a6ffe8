"""Loads the state from the disk, at the start and after a failed commit, and finds out when writing works again."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import TYPE_CHECKING

from tarmac.store.database.files import FilesRemoved

if TYPE_CHECKING:
    from tarmac.controller.settings.settings import Settings
    from tarmac.core.state import State
    from tarmac.store.store import Store

log = logging.getLogger(__name__)


def load_state(store: Store, settings: Settings, *, first_id: int, now: float) -> State:
    state = store.load(now)
    state.next_id = max(state.next_id, first_id)
    state.rules = settings.in_force.rules
    store.load_past(state, now)
    return state


def load_again(state: State, before: State) -> State:
    """Keep what only memory knew before the state was loaded again."""
    for name, node in before.nodes.items():
        mine = state.node(name)
        mine.gpus, mine.has_reported_gpus = node.gpus, node.has_reported_gpus
        mine.cpu_job_slots, mine.is_connected = node.cpu_job_slots, False
        mine.is_watch_only = node.is_watch_only
        state.touch(mine)
    state.keep_begins(before.runtimes.began)
    state.keep_patience(before)
    gc.unfreeze()  # the state before is garbage with cycles, and its jobs may be frozen
    return state


async def can_write(store: Store) -> bool:
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Exception | None] = loop.create_future()
    store.try_to_write(lambda error: loop.call_soon_threadsafe(outcome.set_result, error))
    error = await outcome
    if isinstance(error, FilesRemoved):
        error = restore(store)
    return error is None


def restore(store: Store) -> Exception | None:
    """Why the files cannot be put back; None once they are, with the last commit."""
    try:
        store.restore()
    except Exception as error:  # noqa: BLE001 - as if the commit had failed
        return error
    log.warning("the database was removed while in use; it was restored, and nothing is lost")
    return None
