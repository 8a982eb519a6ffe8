"""Hides the secrets of a target: in its URL, and in messages of libraries that repeat parts of it. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlsplit

HIDDEN = "***"
SHORTEST = 4  # shorter parts are hidden in the URL only: `to` or `7` occurs in every message
# The host of these is the name of a server. Of all others it may be a token.
_WITH_SERVER = frozenset(
    f"{scheme}{s}"
    for scheme in ("mailto", "json", "xml", "form", "http", "gotify", "matrix", "ntfy")
    for s in ("", "s")
)
_PARTS = re.compile(r"[/?&=#:@,;+]+")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+]*://[^\s'\"<>]+")


def masked(url: str) -> str:
    """`mailtos://***@smtp.example.org:587/***`, `slack://***`: the scheme, and the server if it is known to be one."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in _WITH_SERVER:
        return f"{scheme}://{HIDDEN}"
    place = re.split(r"[/?#]", rest, maxsplit=1)
    user, at, server = place[0].rpartition("@")
    more = f"/{HIDDEN}" if len(place) > 1 and place[1] else ""
    return f"{scheme}://{HIDDEN if user else ''}{at}{server}{more}"


def without_secrets(text: str, url: str) -> str:
    """The text, with every part of this URL that may be a secret hidden, and every other URL masked."""
    text = text.replace(url, masked(url))
    for part in sorted(_secrets(url), key=len, reverse=True):
        text = re.sub(re.escape(part), HIDDEN, text, flags=re.IGNORECASE)
    return _URL.sub(lambda found: masked(found.group()), text)


def _secrets(url: str) -> set[str]:
    scheme, _, rest = url.partition("://")
    server = _server(url) if scheme.lower() in _WITH_SERVER else ""
    parts = {part for part in _PARTS.split(rest) if part}
    plain = {unquote(part) for part in parts}
    spelled = parts | plain | {quote(part, safe="") for part in plain}
    return {part for part in spelled if len(part) >= SHORTEST and part.lower() not in server}


def _server(url: str) -> str:
    try:
        return (urlsplit(url).netloc.rpartition("@")[2]).lower()
    except ValueError:
        return ""
