"""What browsers reach: the page, its files, log-in and log-out, and the API for those who are logged in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from tarmac.api import errors
from tarmac.api.answers import json_answer
from tarmac.api.protocol import PEER_UID
from tarmac.api.route import PREFIX
from tarmac.api.wording.catalogue.catalogue import speak
from tarmac.controller.page_sessions import SESSION_LASTS_S, csrf_token
from tarmac.controller.requests.permissions import caller_with
from tarmac.refusal import Refused, not_allowed, unavailable
from tarmac.web.files import INDEX, PageFiles
from tarmac.web.login_attempts import LoginAttempts
from tarmac.web.requests import (
    SAFE_METHODS,
    own_hosts,
    refuse_foreign_host,
    refuse_foreign_origin,
    refuse_wrong_token,
    session_cookie,
    session_secret,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tarmac.controller.controller import Controller
    from tarmac.controller.page_sessions import PageSession

LARGEST_LOGIN_BYTES = 1024
SECURITY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
        " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_SECURITY = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]


class Login(msgspec.Struct, forbid_unknown_fields=True):
    link: str


class SessionView(msgspec.Struct, kw_only=True):
    user: str
    is_admin: bool
    csrf: str


class PageApp:
    """An ASGI application. It trusts nothing about a connection; the session says who the user is."""

    def __init__(self, api: ASGIApp, controller: Controller, port: int) -> None:
        self._api = api
        self._controller = controller
        self._port = port
        self._hosts = own_hosts(port)
        self._files = PageFiles()
        self._login = msgspec.json.Decoder(Login)
        self._attempts = LoginAttempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_securely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_SECURITY]
            await send(message)

        headers = Headers(scope=scope)
        speak(headers.get("accept-language"))
        answer = await errors.answered(scope, self._answer(scope, receive, headers))
        if answer is not None:
            await answer(scope, receive, send_securely)

    async def _answer(self, scope: Scope, receive: Receive, headers: Headers) -> ASGIApp:
        refuse_foreign_host(headers, self._hosts)
        method, path = scope["method"], scope["path"]
        if method not in SAFE_METHODS:
            refuse_foreign_origin(headers)
        if path == "/login" and method == "POST":
            return await self._logged_in(scope, receive)
        if path.startswith(f"{PREFIX}/") or path in {"/session", "/logout"}:
            return await self._for_user(scope, headers)
        if method not in SAFE_METHODS:
            return errors.method_not_allowed(method, sorted(SAFE_METHODS))
        return self._file(path, headers)

    async def _for_user(self, scope: Scope, headers: Headers) -> ASGIApp:
        secret = session_secret(headers, self._port)
        session = None if secret is None else await self._controller.page_sessions.find(secret)
        if secret is None or session is None:
            raise not_allowed("page.not_logged_in")
        if scope["method"] not in SAFE_METHODS:
            refuse_wrong_token(headers, secret)
        if scope["path"] == "/session":
            return json_answer(self._session_view(secret, session))
        if scope["path"] == "/logout":
            return await self._logged_out(scope["method"], secret)
        scope["extensions"][PEER_UID] = session.uid
        return self._api

    async def _logged_in(self, scope: Scope, receive: Receive) -> Response:
        body = b""
        async for chunk in Request(scope, receive).stream():
            body += chunk
            if len(body) > LARGEST_LOGIN_BYTES:
                raise not_allowed("page.link_used_up")
        try:
            secret = await self._controller.page_sessions.begin(errors.decoded_body(self._login, body).link)
        except Refused:
            await self._attempts.failed(scope["client"][0] if scope.get("client") else "")
            raise
        answer = Response(status_code=204)
        answer.headers["Set-Cookie"] = session_cookie(secret, self._port, SESSION_LASTS_S)
        return answer

    async def _logged_out(self, method: str, secret: str) -> Response:
        if method != "POST":
            return errors.method_not_allowed(method, ["POST"])
        await self._controller.page_sessions.end(secret)
        answer = Response(status_code=204)
        answer.headers["Set-Cookie"] = session_cookie("", self._port, 0)
        return answer

    def _session_view(self, secret: str, session: PageSession) -> SessionView:
        caller = caller_with(session.uid, self._controller.settings)
        return SessionView(user=caller.name, is_admin=caller.is_admin, csrf=csrf_token(secret))

    def _file(self, path: str, headers: Headers) -> Response:
        """Every address of a view, such as /queue, is the same page; its script shows the view."""
        if not self._files.are_complete:
            raise unavailable("page.not_installed")
        is_view = not path.startswith(("/page/", "/packages/"))
        file = self._files.get(INDEX if is_view else path)
        if file is None:
            return errors.no_such_address()
        fields = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=fields)
        if "gzip" in headers.get("accept-encoding", ""):
            return Response(file.packed, headers={**fields, "Content-Encoding": "gzip"}, media_type=file.media_type)
        return Response(file.body, headers=fields, media_type=file.media_type)
