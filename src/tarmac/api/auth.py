"""The guard of every route. The kernel reports who connected; what a client claims about itself is never read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

from starlette.types import Scope

from tarmac.api.protocol import PEER_UID
from tarmac.controller.requests.permissions import Caller, account, caller_with
from tarmac.controller.settings.settings import Settings
from tarmac.refusal import not_allowed

Guard: TypeAlias = Callable[[Scope, Settings], Caller]


def authenticate(scope: Scope, settings: Settings) -> Caller:
    """The account behind the connection. In personal mode only this user and root are admitted."""
    uid: int = scope["extensions"][PEER_UID]
    if uid not in {os.getuid(), 0}:
        raise not_allowed("permission.other_queue", owner=account(os.getuid()))
    return caller_with(uid, settings)
