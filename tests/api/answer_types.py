"""Holds what the API answers against the type that the table of routes declares."""

from typing import Any

import msgspec
from starlette.routing import compile_path

from tarmac.api.route import Route
from tarmac.api.routes.table import ROUTES
from tarmac.api.schemas.errors import ErrorAnswer

# Fixed paths first, as the router does it.
_ROWS = [(compile_path(route.path)[0], route) for route in sorted(ROUTES, key=lambda route: "{" in route.path)]
OPEN = {"/openapi.json"}  # with more fields than the type has


def row_of(method: str, path: str) -> Route:
    return next(route for regex, route in _ROWS if route.method == method and regex.match(path))


def check_answer(method: str, path: str, status: int, answer: Any) -> None:
    """An answer has exactly the declared fields, of the declared types; so has the body of an error."""
    address, _, query = path.partition("?")
    if status >= 300:
        assert msgspec.to_builtins(msgspec.convert(answer, ErrorAnswer)) == answer
        return
    if "fields=" in query:
        return
    route = row_of(method, address.rstrip("/"))
    assert status in {route.status, *route.other_statuses}
    if route.answer is not bytes:
        typed = msgspec.convert(answer, route.answer)
        assert route.path in OPEN or msgspec.to_builtins(typed) == answer
