"""The parts of uvicorn that serve. Its package also imports its command line, which takes 20 ms at every start."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND_LINE = "uvicorn.main"


class _Placeholder(ModuleType):
    def __getattr__(self, name: str) -> None:
        return None


@contextmanager
def _without_command_line() -> Iterator[None]:
    """Import uvicorn without it. Another import of it later finds the real one."""
    if "uvicorn" in sys.modules:
        yield
        return
    sys.modules[COMMAND_LINE] = _Placeholder(COMMAND_LINE)
    try:
        yield
    finally:
        del sys.modules[COMMAND_LINE]


with _without_command_line():
    from uvicorn.config import Config
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
    from uvicorn.server import Server

__all__ = ["Config", "HttpToolsProtocol", "RequestResponseCycle", "Server"]
