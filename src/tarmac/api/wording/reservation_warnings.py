"""What whoever reserves should hear: nobody may be meant by that name, and some GPUs may not be free in time."""

from __future__ import annotations

import pwd
from typing import TYPE_CHECKING

from tarmac.api.wording.reasons import spans
from tarmac.core.handlers.reservations import still_there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.controller import Controller
    from tarmac.core.model.queue import Reservation
    from tarmac.core.state import State

_WHY = {
    None: "its end is not known",
    "limit": "its time limit ends later",
    "history": "its last runs took longer",
    "stop": "it is asked to stop, and has until later for it",
}


def warnings_for(controller: Controller, made: Reservation) -> list[str]:
    return [*_of_the_owner(controller, made.owner), *_of_the_gpus(controller.state, made)]


def _of_the_owner(controller: Controller, owner: str) -> Iterator[str]:
    """A name that was mistyped keeps GPUs free for nobody."""
    if not _is_account(owner) and controller.store.reader.newest_of(owner) is None:
        yield f"there is no user {owner} on this machine, and no job of {owner} is known"


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):  # the latter for what can be no name, such as one with a NUL
        return name.isdecimal() and name.isascii()  # in containers a number may stand for a user without a name
    return True


def _of_the_gpus(state: State, made: Reservation) -> Iterator[str]:
    """One line for each job, with its GPUs."""
    node, held = state.node(made.node), still_there(state, made)
    for job, end in {job.id: (job, end) for _, job, end in held}.values():
        indices = [node.gpus[gpu].index for gpu, holder, _ in held if holder.id == job.id]
        why = _WHY[None if end is None else end.rests_on]
        yield f"GPU {spans(indices)}: held by job {job.id} of {job.spec.owner}, maybe beyond its begin ({why})"
