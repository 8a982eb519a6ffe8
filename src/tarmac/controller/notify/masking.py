"""Hides the secrets of a target: in its URL, and in messages of libraries that repeat parts of it. Pure."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

HIDDEN = "***"
SHORTEST = 4  # shorter parts are hidden in the URL only: `to` or `7` occurs in every message
LONGEST_WORD = 16  # longer letters are a token
# The host of these is the name of a server. Of all others it may be a token or a secret topic.
_WITH_SERVER = frozenset(
    f"{scheme}{s}" for scheme in ("mailto", "json", "xml", "form", "http", "gotify") for s in ("", "s")
)
_SERVER = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_OPTION = re.compile(r"[?&][-+:]?[A-Za-z_][\w-]*=[^&]*")
_PARTS = re.compile(r"[/?&=#:@,;+]+")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+]*://[^\s'\"<>]+")


def masked(url: str) -> str:
    """`mailtos://***@smtp.example.org:587/***`, `slack://***`: the scheme, and the server if it is known to be one."""
    scheme, _, rest = url.partition("://")
    server = _server(url)
    if not server:
        return f"{scheme}://{HIDDEN}"
    place = re.split(r"[/?#]", rest, maxsplit=1)
    user, at, _ = place[0].rpartition("@")
    more = f"/{HIDDEN}" if len(place) > 1 and place[1] else ""
    return f"{scheme}://{HIDDEN if user else ''}{at}{server}{more}"


def _server(url: str) -> str:
    """The server that the URL names; empty if that may be a secret.

    A password with an unescaped `/`, `?` or `#` ends what looks like the server: then an `@` follows.
    """
    scheme, _, rest = url.partition("://")
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    server = place.rpartition("@")[2]
    is_known = scheme.lower() in _WITH_SERVER and "@" not in _OPTION.sub("", rest[len(place) :])
    return server if is_known and _SERVER.fullmatch(server) else ""


def without_secrets(text: str, url: str) -> str:
    """The text, with every part of this URL that may be a secret hidden, and every other URL masked."""
    text = text.replace(url, masked(url))
    for part in sorted(_secrets(url), key=len, reverse=True):
        text = re.sub(_where(part), HIDDEN, text, flags=re.IGNORECASE)
    return without_urls(text)


def without_urls(text: str) -> str:
    """The text, with every URL in it masked."""
    return _URL.sub(lambda found: masked(found.group()), text)


def _where(part: str) -> str:
    """A pattern for its places. One that looks like a word is hidden as a whole word: `fail` is a part of `failed`."""
    is_word = part.isalpha() and len(part) < LONGEST_WORD
    return rf"(?<!\w){part}(?!\w)" if is_word else re.escape(part)


def _secrets(url: str) -> set[str]:
    rest, server = url.partition("://")[2], _server(url).lower()
    parts = {part for part in _PARTS.split(rest) if part}
    plain = {unquote(part) for part in parts}
    spelled = parts | plain | {quote(part, safe="") for part in plain}
    return {part for part in spelled if len(part) >= SHORTEST and part.lower() not in server}
