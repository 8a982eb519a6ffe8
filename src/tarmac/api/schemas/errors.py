"""The body of every failed request."""

from __future__ import annotations

from msgspec import Struct


class ErrorDetail(Struct, kw_only=True):
    code: str
    key: str
    message: str
    hint: str | None


class ErrorAnswer(Struct, kw_only=True):
    error: ErrorDetail
