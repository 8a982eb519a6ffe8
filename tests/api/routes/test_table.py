"""The table of routes: each row is guarded and documented, and its handler takes what the row says."""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
from starlette.responses import Response

from tarmac.api.deps import Context
from tarmac.api.route import Route
from tarmac.api.routes.table import ROUTES
from tarmac.api.schemas.gpus.gpus import GpuProcess, GpuReservation, GpuView
from tarmac.api.schemas.job.job import WholeJobView
from tarmac.api.schemas.queue import QueueView
from tarmac.api.schemas.reservations import ReservationView
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.controller.settings.settings import Settings
from tests.api.asgi import ask, named

API_PAGE = Path(__file__).parents[3] / "docs/api.md"
IN_PATH = re.compile(r"{(\w+)(:number)?}")
STRANGER = 54321


class Untouchable:
    """An engine that fails the test when anything but its settings is used."""

    settings = Settings({}, {})
    degraded = None

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"engine.{name} was used before the guard refused")


def row_name(route: Route) -> str:
    return f"{route.method} {route.path}"


def address(route: Route) -> str:
    return IN_PATH.sub("1", route.path)


@pytest.mark.parametrize("route", ROUTES, ids=row_name)
def test_every_route_refuses_a_stranger_before_it_does_anything(route: Route) -> None:
    # The body is wrong as well: the guard comes before validation.
    status, answer = asyncio.run(ask(Untouchable(), route.method, address(route), ["wrong"], uid=STRANGER))
    assert (status, answer["error"]["code"]) == (403, "not_allowed")
    assert "this queue belongs to" in answer["error"]["message"]


@pytest.mark.parametrize("route", [route for route in ROUTES if route.who == "admins"], ids=row_name)
def test_a_route_for_admins_refuses_other_users_before_it_does_anything(route: Route) -> None:
    answer = asyncio.run(ask(Untouchable(), route.method, address(route), ["wrong"], guard=named("bob")))
    assert answer[0] == 403
    assert answer[1]["error"]["message"] == say("permission.admin_only", action=route.admins_may)


@pytest.mark.parametrize("route", ROUTES, ids=row_name)
def test_a_handler_takes_and_returns_what_its_row_says(route: Route) -> None:
    hints = get_type_hints(route.handler)
    returned = hints.pop("return")
    in_path = [int if kind else str for _, kind in IN_PATH.findall(route.path)]
    assert [*hints.values()] == [
        Context,
        *in_path,
        *filter(None, (route.query, route.body)),
        *[bytes] * route.takes_bytes,
    ]
    assert len(inspect.signature(route.handler).parameters) == len(hints)
    assert returned == route.answer or issubclass(returned, Response)


def test_no_address_is_listed_twice() -> None:
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize("shown", [WholeJobView, GpuView, GpuProcess, GpuReservation, ReservationView, QueueView])
def test_the_page_of_the_api_names_every_field(shown: type[msgspec.Struct]) -> None:
    text = API_PAGE.read_text(encoding="utf-8")
    assert [name for name in shown.__struct_fields__ if not re.search(rf"[`\"]{name}[`\"]", text)] == []


def test_the_page_of_the_api_lists_every_row_and_who_may() -> None:
    text = API_PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`?]+)` \| (\w+) \|", text, re.MULTILINE)
    assert listed == [(f"{route.method} {route.shown_path}", route.who) for route in ROUTES]
