"""The table of routes as an ASGI application: the same for the command line, the page and every program."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.routing import Route as PathRoute
from starlette.routing import Router

from tarmac.api import errors
from tarmac.api.auth import authenticate
from tarmac.api.body import BodyReader
from tarmac.api.endpoint import Endpoint
from tarmac.api.route import PREFIX
from tarmac.api.routes.table import ROUTES
from tarmac.api.shared_answers import SharedAnswers
from tarmac.api.sse.broadcast import Broadcast
from tarmac.api.wording.catalogue.catalogue import speak

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from tarmac.api.auth import Guard
    from tarmac.controller.controller import Controller


METRICS = "/metrics"  # also without the prefix, where Prometheus looks


def build_app(controller: Controller, end: Callable[[], None], guard: Guard = authenticate) -> ASGIApp:
    by_path = groupby(sorted(ROUTES, key=lambda route: _place(route.path)), lambda route: route.path)
    parts = (controller, end, guard, BodyReader(), Broadcast(controller), SharedAnswers(controller))
    endpoints = {path: Endpoint(routes, *parts) for path, routes in by_path}
    fixed = {PREFIX + path: one for path, one in endpoints.items() if "{" not in path}
    router = Router(
        [*[PathRoute(PREFIX + path, one) for path, one in endpoints.items()], PathRoute(METRICS, endpoints[METRICS])],
        redirect_slashes=False,
        default=_not_found,
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] = scope["path"].rstrip("/")  # `/jobs/` means `/jobs`
        if (endpoint := fixed.get(path)) is not None:  # without a search in all patterns
            scope["path_params"] = {}
            await endpoint(scope, receive, send)
        else:
            await router(scope, receive, send)

    return app


def _place(path: str) -> tuple[bool, str]:
    """Fixed paths first: `/jobs/wait` is not a job. The first match counts."""
    return "{" in path, path


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    speak(Headers(scope=scope).get("accept-language"))
    await errors.no_such_address()(scope, receive, send)
