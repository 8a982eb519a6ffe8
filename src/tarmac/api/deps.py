"""What every handler is given besides its own arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers

from tarmac.controller.controller import Controller
from tarmac.controller.permissions import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    controller: Controller
    caller: Caller
    headers: Headers
    end: Callable[[], None]  # ends the controller
