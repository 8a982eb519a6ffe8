"""Who may do what: users act on their own jobs, admins on every job and on the queue as a whole."""

from __future__ import annotations

import os
import pwd
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from tarmac.records import dataclass
from tarmac.refusal import not_allowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.settings.settings import Settings
    from tarmac.core.model.job import Job


AdminAction: TypeAlias = Literal[
    "urgent",
    "make_urgent",
    "start",
    "stop",
    "queue",
    "set",
    "reserve",
    "notice",
    "clean",
    "gpus",
    "ignore",
    "nodes",
    "log",
    "end",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The account behind a request, as the kernel reports it."""

    name: str
    uid: int
    is_admin: bool


def caller_with(uid: int, settings: Settings) -> Caller:
    name = account(uid)
    return Caller(name=name, uid=uid, is_admin=is_admin(name, settings))


@lru_cache(maxsize=256)
def account(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # in containers a uid often has no account
        return str(uid)


def is_admin(name: str, settings: Settings) -> bool:
    """Root and the controller's own account are always admins, because they could bypass any check."""
    return name in {account(0), account(os.getuid())} or name in settings.in_force.admins


def need_admin(caller: Caller, action: AdminAction) -> None:
    if not caller.is_admin:
        raise not_allowed("permission.admin_only", action=action)


def refuse_others_jobs(jobs: Iterable[Job], caller: Caller) -> None:
    """Unless the caller is an admin, every job must be the caller's own."""
    if caller.is_admin:
        return
    for job in jobs:
        refuse_other_owner(job.id, job.spec.owner, caller)


def refuse_other_owner(job: int, owner: str, caller: Caller) -> None:
    if owner != caller.name:
        raise not_allowed("permission.not_owner", job=job, owner=owner, caller=caller.name)
