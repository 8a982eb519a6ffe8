"""The body of a request: JSON or bytes, declared as such, and bounded before it is buffered.

A browser's form can declare neither `application/json` nor `application/octet-stream`, so no page that a user visits
can post one here.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from tarmac.api.errors import decoded_body
from tarmac.refusal import invalid, unavailable
from tarmac.shared.numbers import whole_number

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import Receive

    from tarmac.api.route import Route

SMALL_BYTES = 1 << 16  # such bodies are always read
MOST_AT_ONCE_BYTES = 1 << 30  # of all larger bodies together; one user gets at most half
_WITH_BODY = {"POST", "PUT", "PATCH"}


def refuse_other_types(route: Route, headers: Headers) -> None:
    """Also for a request without a body: a page could send an empty one."""
    if route.method in _WITH_BODY:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != route.body_type:
            raise invalid("request.not_declared_bytes") if route.takes_bytes else invalid("request.not_declared_json")


class BodyReader:
    """Reads bodies. All that are being read share one budget, so that together they cannot fill the memory."""

    def __init__(self) -> None:
        self._charged: Counter[int] = Counter()  # bytes, by uid

    async def read(self, route: Route, headers: Headers, receive: Receive, uid: int) -> Any:
        """The decoded body. Refuses a body that is too large as soon as that is known."""
        most = route.largest_body_bytes
        if whole_number(headers.get("content-length", "0"), most) is None:
            raise invalid("request.too_large", most=most)
        chunks: list[bytes] = []
        size = charged = 0
        try:
            async for chunk in _chunks(receive):
                size += len(chunk)
                if size > most:
                    raise invalid("request.too_large", most=most)
                if size > SMALL_BYTES:
                    self._charge(uid, size - charged)
                    charged = size
                chunks.append(chunk)
            body = b"".join(chunks)
            return body if route.decoder is None else decoded_body(route.decoder, body)
        finally:
            self._charged[uid] -= charged
            if not self._charged[uid]:
                del self._charged[uid]

    def _charge(self, uid: int, size: int) -> None:
        total, own = self._charged.total() + size, self._charged[uid] + size
        if total > MOST_AT_ONCE_BYTES or own > MOST_AT_ONCE_BYTES // 2:
            raise unavailable("server.too_many_bodies")
        self._charged[uid] = own


async def _chunks(receive: Receive) -> Any:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        yield message.get("body", b"")
        more = message.get("more_body", False)
