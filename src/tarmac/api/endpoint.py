"""From a request to its answer: the guard, then validation, then the handler. The same steps for every route."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.responses import Response

from tarmac.api import errors
from tarmac.api.answers import header_text, json_answer
from tarmac.api.body import refuse_other_types
from tarmac.api.deps import Context
from tarmac.api.protocol import IS_CROWDED, PEER_UID
from tarmac.api.route import JSON
from tarmac.api.shared_answers import Question
from tarmac.api.wording.catalogue.catalogue import speak
from tarmac.api.wording.catalogue.dialect import current_dialect
from tarmac.api.wording.times import tell_in_zone
from tarmac.api.wording.why.degraded import degraded_words, silent_words
from tarmac.controller.requests.permissions import need_admin
from tarmac.controller.requests.repeats import Key
from tarmac.refusal import invalid, unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from tarmac.api.auth import Guard
    from tarmac.api.body import BodyReader
    from tarmac.api.route import Route
    from tarmac.api.shared_answers import SharedAnswers
    from tarmac.api.sse.broadcast import Broadcast
    from tarmac.controller.controller import Controller
    from tarmac.controller.requests.permissions import Caller

LONGEST_KEY = 128
MOST_PARAMETERS = 64


class Endpoint:
    """All routes of one path, as an ASGI application."""

    def __init__(
        self,
        routes: Iterable[Route],
        controller: Controller,
        end: Callable[[], None],
        guard: Guard,
        bodies: BodyReader,
        broadcast: Broadcast,
        shared: SharedAnswers,
    ) -> None:
        self._routes = {route.method: route for route in routes}
        self._controller = controller
        self._end = end
        self._guard = guard
        self._bodies = bodies
        self._broadcast = broadcast
        self._shared = shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        tell_in_zone(headers.get("tarmac-zone"))
        speak(headers.get("accept-language"))
        route = self._routes.get(scope["method"])
        if route is None:
            answer: ASGIApp | None = errors.method_not_allowed(scope["method"], sorted(self._routes))
        else:
            answer = await errors.answered(scope, self._answer(route, scope, receive, headers))
        if answer is not None:
            await answer(scope, receive, send)

    async def _answer(self, route: Route, scope: Scope, receive: Receive, headers: Headers) -> Response:
        """The guard comes first, also for an answer that is shared."""
        caller = self._guard(scope, self._controller.settings)
        if route.admins_may is not None:
            need_admin(caller, route.admins_may)
        if (path := headers.get("tarmac-ssh-agent")) is not None and caller.uid == os.getuid():
            self._controller.nodes.auth_socket.note(path)
        errors.refuse_newer_clients(headers.get("tarmac-api"))
        if not route.is_shared:
            return await self._new_answer(route, scope, receive, headers, caller)
        question = Question(scope["path"], scope["query_string"], caller, current_dialect())
        return await self._shared.get(question, lambda: self._new_answer(route, scope, receive, headers, caller))

    async def _new_answer(
        self, route: Route, scope: Scope, receive: Receive, headers: Headers, caller: Caller
    ) -> Response:
        if route.may_last and scope["extensions"].get(IS_CROWDED):
            raise unavailable("server.crowded")
        refuse_other_types(route, headers)
        key = _key(headers, caller.name, scope)
        context = Context(
            controller=self._controller,
            caller=caller,
            headers=headers,
            end=self._end,
            key=key,
            broadcast=self._broadcast,
        )
        arguments: list[Any] = [*scope["path_params"].values()]
        if route.query is not None:
            arguments.append(errors.decoded_query(route.query, _parameters(scope)))
        if route.decoder is not None or route.takes_bytes:
            arguments.append(await self._bodies.read(route, headers, receive, scope["extensions"][PEER_UID]))
        answer = await self._handled(route, context, arguments)
        if (degraded := degraded_words(self._controller)) is not None:
            answer.headers["Tarmac-Degraded"] = header_text(degraded)
        if (silent := silent_words(self._controller)) is not None:
            answer.headers["Tarmac-Stale"] = header_text(silent)
        return answer

    async def _handled(self, route: Route, context: Context, arguments: list[Any]) -> Response:
        """The handler's answer, or the one that an earlier request with the same key got."""
        if context.key is None:
            content = await route.handler(context, *arguments)
        else:
            repeats = self._controller.repeats
            async with repeats.turn(context.key):
                if kept := repeats.kept(context.key):
                    return Response(kept, route.status, media_type=JSON)
                content = await route.handler(context, *arguments)
        return content if isinstance(content, Response) else json_answer(content, route.status)


def _key(headers: Headers, caller: str, scope: Scope) -> Key | None:
    """The key counts for requests to one route and path, so that no other request gets the kept answer."""
    text = headers.get("idempotency-key")
    if text is None:
        return None
    if not 0 < len(text) <= LONGEST_KEY:
        raise invalid("request.wrong_key", most=LONGEST_KEY)
    return Key(caller, f"{scope['method']} {scope['path']} {text}")


def _parameters(scope: Scope) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS
        )
    except ValueError:
        raise invalid("request.too_many_parameters", most=MOST_PARAMETERS) from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            raise invalid("request.repeated_parameter", name=name)
        given[name] = value
    return given
