"""From a request to its answer, where no handler is involved: addresses, methods, bodies, failures."""

import asyncio
import json
import logging
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.api import body
from tarmac.api.app import build_app
from tarmac.api.route import LARGEST_BODY_BYTES, Route
from tarmac.api.routes.table import ROUTES
from tarmac.controller.settings.settings import Settings
from tarmac.nodes.fleet import Fleet
from tarmac.refusal import Refused, unavailable
from tests.api.asgi import Answer, send

SINCE = time.strftime("%H:%M", time.localtime(1_800_000_000 - 90))


class Bare:
    """A controller that no handler could work with."""

    settings = Settings({}, {})
    degraded: Refused | None = None
    degraded_s = 90.0
    fleet = Fleet()
    engine = SimpleNamespace(is_at_rest=False)

    def now(self) -> float:
        return 1_800_000_000.0


def answered(*request: Any, controller: Any = None, **more: Any) -> Answer:
    answer = asyncio.run(send(controller or Bare(), *request, **more))
    assert answer is not None
    return answer


def error(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.body)["error"]  # type: ignore[no-any-return]


def test_an_unknown_address_is_not_found() -> None:
    answer = answered("GET", "/nope")
    assert answer.status == 404
    assert error(answer)["code"] == "not_found"
    assert "openapi.json" in error(answer)["hint"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"), [("PUT", "/jobs/7", "GET, PATCH"), ("GET", "/jobs/kill", "POST")]
)
def test_a_wrong_method_is_refused_with_the_right_ones(method: str, path: str, allowed: str) -> None:
    answer = answered(method, path)
    assert (answer.status, answer.headers["allow"], error(answer)["code"]) == (405, allowed, "refused")
    assert error(answer)["hint"] == f"use {allowed.replace(', ', ' or ')}"


def test_a_slash_at_the_end_makes_no_difference() -> None:
    assert answered("GET", "/openapi.json/").status == 200


def test_a_fixed_address_is_not_taken_for_a_job() -> None:
    """GET /jobs/wait must not be taken for the job "wait"."""
    assert error(answered("GET", "/jobs/wait"))["message"] == "ids is missing"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body must be an object with the fields listed in docs/api.md"),
        (b"[]", "the body must be an object with the fields listed in docs/api.md"),
        (b"{", "the body is not valid JSON: Input data was truncated"),
        (b'{"ids": ["\xff"]}', "the body is not UTF-8"),
        (b'{"ids": ["1"]} x', "the body is not valid JSON: JSON is malformed: trailing characters (byte 16)"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(body: bytes, message: str) -> None:
    answer = answered("POST", "/jobs/kill", [body] if body else [])
    assert (answer.status, error(answer)["message"]) == (400, message)


def test_a_body_arrives_in_pieces() -> None:
    answer = answered("POST", "/jobs/kill", [b'{"ids":', b"[]", b', "grace_s": -1}'])
    assert error(answer)["message"].startswith("grace_s (--grace) must be a duration")


def test_every_wrong_parameter_is_named() -> None:
    answer = answered("GET", "/jobs?limit=0&order=up")
    assert error(answer)["message"] == "limit must be a whole number from 1 to 10000; order must be asc or desc"


def test_an_unknown_parameter_is_refused_with_the_known_ones() -> None:
    answer = answered("GET", "/jobs/wait?ids=1&timeout_s=x&timeout=5")
    unknown = "timeout is not a parameter of this address, which accepts ids, fields, known, timeout_s"
    wrong = "timeout_s must be a duration from 0s to 5m, in seconds"
    assert (answer.status, error(answer)["message"]) == (400, f"{unknown}; {wrong}")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.query is not None], ids=lambda route: route.path)
def test_every_query_refuses_unknown_parameters(route: Route) -> None:
    assert route.query is not None
    assert route.query.__struct_config__.forbid_unknown_fields


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/jobs?after={10**30}", f"after must be a whole number from 0 to {2**63 - 1}"),
        ("/gpus/0/samples?since_s=1e308", "since_s must be a duration from 0s to 3660d, in seconds"),
        ("/gpus/0/samples?since_s=inf", "since_s must be a duration from 0s to 3660d, in seconds"),
        (f"/jobs/1/log?offset={10**30}", f"offset must be a whole number from 0 to {2**63 - 1}"),
        (f"/jobs/1/log?lines={10**30}", "lines (-n) must be a whole number from 0 to 1000000000000"),
        (f"/jobs/1/log?attempt={10**30}", f"attempt must be a whole number from 1 to {2**31}"),
    ],
)
def test_a_number_that_is_too_large_is_refused(path: str, message: str) -> None:
    answer = answered("GET", path)
    assert (answer.status, error(answer)["message"]) == (400, message)


@pytest.mark.parametrize("path", ["/gpus/ignore", "/adopt"])
def test_a_pid_that_cannot_exist_is_refused(path: str) -> None:
    answer = answered("POST", path, [json.dumps({"pid": 10**30}).encode()])
    assert (answer.status, error(answer)["message"]) == (400, f"pid must be a whole number from 1 to {2**31 - 1}")


def test_a_body_that_is_announced_too_large_is_refused_unread() -> None:
    length = str(LARGEST_BODY_BYTES + 1)
    assert answered("POST", "/jobs/kill", headers={"Content-Length": length}).status == 413
    assert answered("POST", "/jobs/kill", headers={"Content-Length": "9" * 5000}).status == 413


def test_a_body_that_turns_out_too_large_is_refused() -> None:
    half = b" " * (LARGEST_BODY_BYTES // 2 + 1)
    assert answered("POST", "/jobs/kill", [half, half]).status == 413


def test_large_bodies_share_a_budget_that_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "MOST_AT_ONCE_BYTES", 6 << 20)  # one user gets half
    chunk = b" " * (1 << 20)

    async def story() -> list[int]:
        ask = partial(send, Bare(), "POST", "/jobs/kill", app=build_app(Bare(), lambda: None))  # type: ignore[arg-type]
        answers = [await ask([chunk] * megabytes) for megabytes in (4, 3, 1, 3)]
        return [0 if answer is None else answer.status for answer in answers]

    assert asyncio.run(story()) == [503, 400, 400, 400]


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"])
@pytest.mark.parametrize("path", ["/jobs/kill", "/jobs", "/reservations/1/end", "/stop"])
def test_a_body_that_a_form_could_send_is_refused_unread(path: str, kind: str) -> None:
    answer = answered("POST", path, [None], headers={"Content-Type": kind})
    assert (answer.status, error(answer)["key"]) == (415, "request.not_declared_json")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_may_be_declared_with_a_charset(kind: str) -> None:
    assert answered("POST", "/jobs/kill", [b"[]"], headers={"Content-Type": kind}).status == 400


def test_a_repeated_parameter_is_refused() -> None:
    answer = answered("GET", "/jobs?limit=1&limit=2")
    assert (answer.status, error(answer)["message"]) == (400, "'limit' is given more than once")


def test_a_client_that_disconnects_is_not_answered() -> None:
    assert asyncio.run(send(Bare(), "POST", "/jobs/kill", [b"{", None])) is None


def test_a_failure_of_the_controller_is_logged_and_answered(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = answered("GET", "/queue")
    assert (answer.status, error(answer)["code"]) == (500, "internal")
    assert "'Bare' object has no attribute 'state'" in error(answer)["message"]
    assert "GET /api/v1/queue failed" in caplog.text


def test_a_degraded_controller_says_so_in_every_answer() -> None:
    degraded = Bare()
    degraded.degraded = unavailable("store.cannot_write", error="disk full: größer")
    assert "tarmac-degraded" not in answered("GET", "/openapi.json").headers
    answer = answered("GET", "/openapi.json", controller=degraded)
    assert (
        answer.headers["tarmac-degraded"]
        == f"the state could not be written: disk full: gr%C3%B6%C3%9Fer (since {SINCE})"
    )


def test_the_header_of_a_degraded_controller_is_one_line() -> None:
    degraded = Bare()
    degraded.degraded = unavailable("store.cannot_write", error="disk\x1b full\r\nSet-Cookie: a=b")
    answer = answered("GET", "/openapi.json", controller=degraded)
    expected = f"the state could not be written: disk%1B full%0D%0ASet-Cookie: a=b (since {SINCE})"
    assert answer.headers["tarmac-degraded"] == expected
