"""Who may do what: everybody with their own jobs, admins with everybody's and with the queue as a whole."""

from __future__ import annotations

import os
import pwd
from functools import lru_cache
from typing import TYPE_CHECKING

from tarmac.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.settings.settings import Settings
    from tarmac.core.model.job import Job


@lru_cache(maxsize=256)
def account(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:  # containers often run as a number without a name
        return str(uid)


def is_admin(caller: str, settings: Settings) -> bool:
    """Root and whoever the controller runs as always are: nothing could keep them from it."""
    return caller in {account(0), account(os.getuid())} or caller in settings["admins"]


def need_admin(caller: str, settings: Settings, what: str) -> None:
    if not is_admin(caller, settings):
        raise NotAllowed(f"only admins may {what}", hint="ask one of them; the setting `admins` lists them")


def refuse_others_jobs(jobs: Iterable[Job], caller: str, settings: Settings) -> None:
    """All of them must be the caller's, unless an admin asks."""
    if is_admin(caller, settings):
        return
    for job in jobs:
        if job.spec.owner != caller:
            raise NotAllowed(
                f"job {job.id} belongs to {job.spec.owner}; nothing was done",
                hint="leave it out, such as with --owner and your own name",
            )
