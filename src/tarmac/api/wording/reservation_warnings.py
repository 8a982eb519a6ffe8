"""Warnings about a new reservation: its user may not exist, and some GPUs may not be free in time."""

from __future__ import annotations

import pwd
from typing import TYPE_CHECKING

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.core.handlers.queue.reservations import still_there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.controller import Controller
    from tarmac.core.model.queue import Reservation
    from tarmac.core.state import State


def warnings_for(controller: Controller, made: Reservation) -> list[str]:
    return [*_of_the_owner(controller, made.owner), *_of_the_gpus(controller.state, made)]


def _of_the_owner(controller: Controller, owner: str) -> Iterator[str]:
    """A mistyped name would reserve GPUs for no one."""
    if not _is_account(owner) and controller.store.reader.newest_of(owner) is None:
        yield say("reservation.unknown_user", owner=owner)


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):  # ValueError for a text that cannot be a name, such as one with a NUL
        return name.isdecimal() and name.isascii()  # in containers a uid may have no account
    return True


def _of_the_gpus(state: State, made: Reservation) -> Iterator[str]:
    """One warning per job, with its GPUs."""
    node, held = state.node(made.node), still_there(state, made)
    for job, end in {job.id: (job, end) for _, job, end in held}.values():
        indices = [node.gpus[gpu].index for gpu, holder, _ in held if holder.id == job.id]
        rests_on = "unknown" if end is None else end.rests_on
        yield say("reservation.may_be_held", gpus=indices, job=job.id, owner=job.spec.owner, end=rests_on)
