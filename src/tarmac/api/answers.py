"""Responses with a JSON body, and text in headers."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

_PLAIN = "".join(map(chr, range(ord(" "), ord("~") + 1))).replace("%", "")
_ENCODER = msgspec.json.Encoder()


def header_text(text: str) -> str:
    """The text as a header can hold it: everything but printable ASCII is percent-encoded, and so is the percent."""
    return quote(text, safe=_PLAIN, errors="replace")


def json_answer(content: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(content), status, media_type="application/json")
