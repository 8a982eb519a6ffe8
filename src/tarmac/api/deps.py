"""What every handler is given besides its own arguments, and how it decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from starlette.datastructures import Headers

from tarmac.api.sse.broadcast import Broadcast
from tarmac.controller.controller import Controller
from tarmac.controller.requests.permissions import Caller
from tarmac.controller.requests.repeats import Key
from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.controller.engine.decision import Plan

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    controller: Controller
    caller: Caller
    headers: Headers
    end: Callable[[], None]  # ends the controller
    broadcast: Broadcast  # of events to streams
    key: Key | None = None  # of the request, for a client that may repeat it

    @property
    def is_carried_out(self) -> bool:
        """True if this is a repetition of a request that was carried out, and only its answer was lost."""
        return self.controller.repeats.kept(self.key) is not None

    async def decide(self, plan: Plan[T], *, is_begun: bool = False) -> T:
        """The plan's answer, once it is on disk. It is the answer to the request, also if the request is repeated.

        `is_begun`: earlier decisions carried out parts of the request.
        """
        keeping = self.controller.repeats.keeping(self.key, plan, is_answer=True, is_begun=is_begun)
        return await self.controller.engine.decide(keeping)

    async def carry_out(self, plan: Plan[T]) -> T | None:
        """As `decide`, for a handler that forms its answer afterwards. None if a repetition finds it carried out."""
        if self.is_carried_out:
            return None
        return await self.controller.engine.decide(self.controller.repeats.keeping(self.key, plan, is_answer=False))
