"""Questions that are asked until they are answered, for what takes many of them: copies over a link."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tarmac.refusal import Refused

if TYPE_CHECKING:
    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import QuestionFrame

RETRY_S = 1.0  # if a connected node does not answer


class NodeLeft(Exception):
    """The node is not connected, or was not for a moment: the caller begins again when it is back."""


async def ask_steadily(fleet: Fleet, node: NodeName, frame: QuestionFrame) -> AnyFrame:
    """Raises NodeLeft."""
    session = fleet.get(node)
    connection = None if session is None else session.hello
    while True:
        if session is None or session.hello is None or session.hello is not connection:
            raise NodeLeft
        try:
            return await fleet.ask(node, frame)
        except Refused:
            await asyncio.sleep(RETRY_S)
