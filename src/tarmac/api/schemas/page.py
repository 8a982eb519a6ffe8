"""Log-in to the page."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class PageLinkRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """`port`: on loopback, if the page is not served yet; by default the one of last time, or any."""

    port: Annotated[int, Meta(ge=1, le=65535)] | None = None


class PageLink(Struct, kw_only=True):
    """An address that logs the caller in, once."""

    url: str
    lasts_s: float


class PageLogout(Struct, kw_only=True):
    user: str
