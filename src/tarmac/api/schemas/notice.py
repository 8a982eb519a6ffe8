"""The notice of the admins to all users."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tarmac.shared.names import LONGEST_NOTICE


class NoticeView(Struct, kw_only=True):
    text: str
    by: str
    at: str


class NoticeRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_NOTICE)]


class NoticeAnswer(Struct, kw_only=True):
    notice: NoticeView | None
