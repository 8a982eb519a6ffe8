"""Connections of browsers: the kernel does not say whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.protocol import BoundedProtocol

if TYPE_CHECKING:
    import socket

NOBODY = -1  # a uid that no account has; the API refuses it


class PageProtocol(BoundedProtocol):
    def peer(self, _: socket.socket) -> int:
        return NOBODY
