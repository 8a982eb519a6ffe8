"""Who is asking. The kernel says so; what a client claims about itself is not looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tarmac.api.server import PEER_UID
from tarmac.controller.permissions import account
from tarmac.errors import NotAllowed

if TYPE_CHECKING:
    from litestar import Request


async def caller(request: Request[Any, Any, Any]) -> str:
    """The account behind the connection. In personal mode that is this user, or root."""
    uid = request.scope["extensions"][PEER_UID]  # type: ignore[index]
    if uid not in {os.getuid(), 0}:
        raise NotAllowed(
            f"this queue belongs to {account(os.getuid())}", hint="run your own: unset TARMAC_HOME and try again"
        )
    return account(uid)
