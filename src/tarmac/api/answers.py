"""Responses with a JSON body."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

_ENCODER = msgspec.json.Encoder()


def header_text(text: str) -> str:
    """The text as a header can hold it: everything but printable ASCII is escaped."""
    return "".join(one if " " <= one <= "~" else one.encode("unicode_escape").decode() for one in text)


def json_answer(content: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(content), status, media_type="application/json")
