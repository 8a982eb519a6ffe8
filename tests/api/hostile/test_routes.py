"""Hostile values in every part of every request: no answer may be 5xx, and the controller and its agent must survive.

The parameters and fields come from the table of routes, so a new route is attacked without a change here.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import msgspec
import msgspec.inspect as shape
import pytest

from tarmac.api.route import PREFIX, Route
from tarmac.api.routes.table import ROUTES
from tests.api.hostile.values import HEADER_NAMES, HEADERS, JSON, RAW_BODIES, TEXTS, places, sample, with_value
from tests.api.served import Served, UnixHttp

IN_PATH = re.compile(r"{(\w+)(?::number)?}")
PLAIN = {"id": "last", "gpu": "0", "name": "grace_s", "tree": "0" * 64, "node": "nowhere"}
OF_LAST = ("/jobs/last", "/jobs/last/why")  # read after each value that was accepted
LOOKED_AT = (
    "/jobs?limit=200&order=desc",
    "/jobs/last/log",
    "/jobs/last/events",
    "/queue",
    "/reservations",
    "/gpus",
    "/settings",
)
AS_JSON = {"Content-Type": "application/json"}


def row_name(route: Route) -> str:
    return f"{route.method} {route.path}"


def address(route: Route, **given: str) -> str:
    return PREFIX + IN_PATH.sub(lambda found: given.get(found[1], PLAIN[found[1]]), route.path)


def plain_body(route: Route, api: Served) -> Any:
    """A body that the route accepts, so that each hostile value is looked at by more than the validation."""
    if route.path == "/jobs":
        job = {"command": ["true"], "gpus": 0}
        return {"cwd": str(api.home), "environment": {"PATH": "/bin"}, "entry": "draft", "jobs": [job]}
    body = sample(shape.type_info(route.body))
    return body | {"ids": ["last"]} if "ids" in route.body.__struct_fields__ else body  # type: ignore[union-attr]


def is_safe(route: Route, body: bytes) -> bool:
    """False for what would end the controller, adopt a process that is not ours, or connect to other machines."""
    if route.path not in {"/stop", "/adopt", "/nodes"}:
        return True
    assert route.decoder is not None
    try:
        route.decoder.decode(body or b"null")
    except Exception:  # noqa: BLE001 - whatever the validation raises, nothing will be carried out
        return True
    return False


class Attacker:
    """Sends requests on one connection as long as it lasts, and collects the answers that are 5xx."""

    def __init__(self, api: Served) -> None:
        self.faults: list[str] = []
        self._path = api.home / "tarmac.sock"
        self._connection = UnixHttp(self._path)

    def send(self, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> int:
        try:
            status = self._send(method, target, body, headers or {})
        except (http.client.HTTPException, ConnectionError):  # closed after the previous answer
            self.close()
            status = self._send(method, target, body, headers or {})
        if status >= 500:
            shown = f"{target[:150]} {(body or b'')[:300]!r} {str(headers)[:150]}"
            self.faults.append(f"{status} {method} {shown}")
        return status

    def look(self, targets: Sequence[str]) -> None:
        """Read back what was accepted: it must not break the views."""
        for target in targets:
            self.send("GET", PREFIX + target)

    def _send(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> int:
        connection = self._connection
        connection.putrequest(method, target, skip_host="Host" in headers, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value.encode("latin-1"))
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        if answer.chunked:  # it may last for as long as we listen
            self.close()
        else:
            answer.read()
        return answer.status

    def close(self) -> None:
        self._connection.close()
        self._connection = UnixHttp(self._path)


@pytest.fixture
def attacker(served_home: Served) -> Iterator[Attacker]:
    """With a job to attack. Afterwards everything still works, in the same processes."""
    served_home.ask("POST", "/queue/resume", {})
    served_home.ids({"command": ["true"]}, entry="draft")
    before = served_home.client.status()
    attacker = Attacker(served_home)
    with closing(attacker):
        yield attacker
    assert attacker.faults == []
    after = served_home.client.status()
    assert (after["controller_pid"], after["agent_pid"]) == (before["controller_pid"], before["agent_pid"])
    served_home.ask("POST", "/queue/resume", {})
    (job,) = served_home.ids({"command": ["true"], "gpus": 0})
    assert served_home.until(job, "succeeded", "failed")["exit_code"] == 0
    served_home.client.rm("all")


@pytest.mark.parametrize("route", [route for route in ROUTES if "{" in route.path], ids=row_name)
def test_hostile_words_in_the_path(attacker: Attacker, served_home: Served, route: Route) -> None:
    body = None if route.body is None else msgspec.json.encode(plain_body(route, served_home))
    for text in TEXTS:
        for name in IN_PATH.findall(route.path):
            attacker.send(route.method, address(route, **{name: text}), body, AS_JSON)
    assert attacker.faults == []


@pytest.mark.parametrize("route", [route for route in ROUTES if route.query is not None], ids=row_name)
def test_hostile_parameters(attacker: Attacker, route: Route) -> None:
    assert route.query is not None
    needed = {"ids": "last", "timeout_s": "0"} if route.path == "/jobs/wait" else {}
    for field in msgspec.structs.fields(route.query):
        for text in TEXTS:
            given = {**needed, field.encode_name: text}
            query = "&".join(f"{name}={value}" for name, value in given.items())
            attacker.send(route.method, f"{address(route)}?{query}")
        for more in (f"&{field.encode_name}=1", f"&{field.encode_name}%00=1", "&x=1;y=2", "&&==&", "&a=1" * 5000):
            attacker.send(route.method, f"{address(route)}?{query}{more}")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=row_name)
def test_hostile_fields(attacker: Attacker, served_home: Served, route: Route) -> None:
    plain = plain_body(route, served_home)
    for place in places(route.body):
        bodies = [body for raw in JSON if is_safe(route, body := with_value(plain, place, raw))]
        for body in bodies:
            if attacker.send(route.method, address(route), body, AS_JSON) < 300:
                attacker.look(OF_LAST)
        attacker.look(LOOKED_AT)
        attacker.send("POST", PREFIX + "/queue/resume", b"{}", AS_JSON)
    assert attacker.faults == []


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body is not None], ids=row_name)
def test_hostile_bodies(attacker: Attacker, route: Route) -> None:
    for body in RAW_BODIES:
        for kind in ({}, AS_JSON, {"Content-Type": "text/plain"}, {"Content-Type": "application/json; charset=utf-16"}):
            if is_safe(route, body):
                attacker.send(route.method, address(route), body, kind)
    assert attacker.faults == []


def test_hostile_values_of_every_setting(attacker: Attacker, served_home: Served) -> None:
    settings = served_home.ask("GET", "/settings")[1]["settings"]
    for setting in settings:
        target = f"{PREFIX}/settings/{setting['name']}"
        for raw in JSON:
            attacker.send("PUT", target, with_value({}, ("value",), raw), AS_JSON)
        attacker.send("GET", PREFIX + "/settings")
        attacker.send("GET", PREFIX + "/jobs")
        attacker.send("DELETE", target)
    assert attacker.faults == []


@pytest.mark.parametrize("name", HEADER_NAMES)
def test_hostile_headers(attacker: Attacker, name: str) -> None:
    for value in HEADERS:
        for target in ("/status", "/events", "/jobs/last/why", "/jobs/last/log", "/nope"):
            attacker.send("GET", PREFIX + target, headers={name: value})
        attacker.send("POST", PREFIX + "/jobs/hold", b'{"ids":["last"]}', {**AS_JSON, name: value})
        attacker.close()
    assert attacker.faults == []


@pytest.mark.parametrize(
    "method", ["HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "POST", "GET", "PROPFIND", "SUBSCRIBE"]
)
def test_wrong_methods(attacker: Attacker, method: str) -> None:
    known = {(route.method, route.path) for route in ROUTES}
    for route in ROUTES:
        if (method, route.path) not in known:
            attacker.send(method, address(route), b"{}", AS_JSON)
    for target in (
        "/",
        "//",
        "/api",
        "/api/v1",
        "/api/v1/",
        "/api/v1//jobs",
        "/api/v1/jobs/../status",
        "/api/v1/jobs%2Flast",
        "/%",
        "/%00",
    ):
        attacker.send(method, target)
    assert attacker.faults == []
