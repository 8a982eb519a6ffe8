"""What a browser may be trusted with: where a request comes from, and whose session it belongs to.

A page of another site can make a browser send requests here. It cannot choose the Host or the Origin header, and it
cannot read the token that every change must carry.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from tarmac.controller.page_sessions import csrf_token
from tarmac.refusal import not_allowed

if TYPE_CHECKING:
    from starlette.datastructures import Headers

SAFE_METHODS = {"GET", "HEAD"}
OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
CSRF_HEADER = "tarmac-csrf"


def own_hosts(port: int) -> frozenset[str]:
    """The values of a Host header that mean this page."""
    return frozenset(f"{name}:{port}" for name in OWN_NAMES)


def refuse_foreign_host(headers: Headers, own: frozenset[str]) -> None:
    """Another name that leads to this machine belongs to a site that wants to read our answers."""
    host = headers.get("host", "")
    if host not in own:
        raise not_allowed("page.foreign_host", host=host)


def refuse_foreign_origin(headers: Headers) -> None:
    """Of requests that change something: browsers send with them where they come from."""
    if headers.get("origin") != f"http://{headers.get('host')}":
        raise not_allowed("page.foreign_origin", origin=headers.get("origin") or "unknown")


def refuse_wrong_token(headers: Headers, secret: str) -> None:
    if not hmac.compare_digest(headers.get(CSRF_HEADER, "").encode(), csrf_token(secret).encode()):
        raise not_allowed("page.wrong_token")


def cookie_name(port: int) -> str:
    """Browsers send a cookie to every port of a host, so that two queues on one machine need two names."""
    return f"tarmac_session_{port}"


def session_secret(headers: Headers, port: int) -> str | None:
    """Our own cookies are never quoted, so that a cookie of another server cannot hide them."""
    name = cookie_name(port)
    for cookie in headers.get("cookie", "").split(";"):
        key, _, value = cookie.strip().partition("=")
        if key == name:
            return value
    return None


def session_cookie(secret: str, port: int, lasts_s: float) -> str:
    """The value of a Set-Cookie header. An empty secret removes the cookie."""
    age = int(lasts_s) if secret else 0
    return f"{cookie_name(port)}={secret}; Max-Age={age}; Path=/; HttpOnly; SameSite=Lax"
