"""Responses with a JSON body or a table to download, and text in headers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response, StreamingResponse

_PLAIN = "".join(map(chr, range(ord(" "), ord("~") + 1))).replace("%", "")
CSV = "text/csv; charset=utf-8"
_ENCODER = msgspec.json.Encoder()


def header_text(text: str) -> str:
    """The text as a header can hold it: everything but printable ASCII is percent-encoded, and so is the percent."""
    return quote(text, safe=_PLAIN, errors="replace")


def json_answer(content: Any, status: int = 200) -> Response:
    return Response(_ENCODER.encode(content), status, media_type="application/json")


def csv_answer(content: str | AsyncIterator[str], file: str) -> Response:
    """A browser saves it under the name of the file."""
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    if isinstance(content, str):
        return Response(content.encode("utf-8", "replace"), media_type=CSV, headers=headers)
    return StreamingResponse(content, media_type=CSV, headers=headers)
