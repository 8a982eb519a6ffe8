"""A request that is repeated with its key is carried out once and gets the same answer, whatever route it is for."""

import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tarmac.api.routes.table import ROUTES
from tests.api.served import Served

SLEEP = {"command": ["sleep", "60"], "gpus": 1}
WIDE = {"command": ["sleep", "60"], "gpus": 2}
NOTHING = {"command": ["true"], "gpus": 0}


def a_held_job(api: Served) -> int:
    return api.ids(NOTHING, entry="held")[0]


def a_running_job(api: Served) -> int:
    (job,) = api.ids(SLEEP)
    api.until(job, "running")
    return job


def a_waiting_job(api: Served) -> int:
    api.until(api.ids(WIDE)[0], "running")
    return api.ids(SLEEP)[0]


def an_ended_job(api: Served) -> int:
    (job,) = api.ids(NOTHING)
    api.until(job, "succeeded")
    return job


def a_process(api: Served) -> int:
    process = subprocess.Popen(["sleep", "60"])
    api.processes.append(process)  # type: ignore[attr-defined]
    return process.pid


def a_reservation(api: Served) -> int:
    body = {"gpus": 1, "from": 4e9, "for_s": 60}
    return int(api.ask("POST", "/reservations", body)[1]["id"])


def a_node(api: Served) -> str:
    """One that is never reached."""
    name = f"node-{os.urandom(4).hex()}"
    body = {"name": name, "host": "127.0.0.1", "port": 1, "later": True}
    assert api.ask("POST", "/nodes", body)[0] == 201
    return name


def a_template(api: Served) -> str:
    assert api.ask("PUT", "/templates/short", {"job": a_held_job(api)})[0] == 200
    return "short"


def of(job: int) -> dict[str, Any]:
    return {"ids": [str(job)]}


# Forms the path and the body of a request to each route that changes something.
REQUESTS: dict[str, Any] = {
    "PATCH /jobs/{id}": lambda api: (f"/jobs/{a_held_job(api)}", {"priority": 3}),
    "POST /jobs/{id}/move": lambda api: (f"/jobs/{a_waiting_job(api)}/move", {"position": 1}),
    "POST /jobs/{id}/start": lambda api: (f"/jobs/{a_held_job(api)}/start", {}),
    "POST /jobs/kill": lambda api: ("/jobs/kill", {**of(api.ids(SLEEP)[0]), "grace_s": 0}),
    "POST /jobs/edit": lambda api: ("/jobs/edit", {**of(a_held_job(api)), "changes": {"priority": 3}}),
    "POST /jobs/move": lambda api: ("/jobs/move", {**of(a_waiting_job(api)), "position": 1}),
    "POST /jobs/hold": lambda api: ("/jobs/hold", of(a_waiting_job(api))),
    "POST /jobs/pause": lambda api: ("/jobs/pause", of(a_running_job(api))),
    "POST /jobs/resume": lambda api: ("/jobs/resume", of(a_running_job(api))),
    "POST /jobs/retry": lambda api: ("/jobs/retry", of(an_ended_job(api))),
    "POST /jobs/release": lambda api: ("/jobs/release", of(a_held_job(api))),
    "POST /jobs/rm": lambda api: ("/jobs/rm", of(an_ended_job(api))),
    "PATCH /jobs": lambda api: ("/jobs", {"jobs": {str(a_held_job(api)): {"priority": 3}}}),
    "POST /jobs/clone": lambda api: ("/jobs/clone", {**of(a_held_job(api)), "entry": "held"}),
    "POST /jobs/label": lambda api: ("/jobs/label", {**of(an_ended_job(api)), "add_tags": ["good"]}),
    "PATCH /jobs/{id}/form": lambda api: (f"/jobs/{a_held_job(api)}/form", {"options": {"priority": "3"}}),
    "POST /jobs/{id}/form": lambda api: (f"/jobs/{a_held_job(api)}/form", {"options": {"priority": "3"}}),
    "POST /history/clean": lambda _: ("/history/clean", {"before": 1.0}),
    "PUT /templates/{name}": lambda api: ("/templates/small", {"job": a_held_job(api)}),
    "DELETE /templates/{name}": lambda api: (f"/templates/{a_template(api)}", None),
    "POST /adopt": lambda api: ("/adopt", {"pid": a_process(api), "gpus": []}),
    "POST /queue/pause": lambda _: ("/queue/pause", {"reason": "x"}),
    "POST /queue/resume": lambda _: ("/queue/resume", {}),
    "POST /queue/drain": lambda _: ("/queue/drain", {}),
    "POST /queue/stop": lambda _: ("/queue/stop", {"requeue": True}),
    "POST /reservations": lambda _: ("/reservations", {"gpus": 1, "from": 4e9, "for_s": 60}),
    "POST /reservations/{id}/end": lambda api: (f"/reservations/{a_reservation(api)}/end", {}),
    "POST /gpus/drain": lambda _: ("/gpus/drain", {"gpus": ["0"]}),
    "POST /gpus/resume": lambda _: ("/gpus/resume", {"gpus": ["0"]}),
    "POST /gpus/forget": lambda _: ("/gpus/forget", {"gpus": ["gone"]}),
    "POST /gpus/slots": lambda _: ("/gpus/slots", {"gpus": ["0"], "slots": 1}),
    "POST /gpus/ignore": lambda api: ("/gpus/ignore", {"command": ignored(api), "forget": True}),
    "POST /nodes/{name}/drain": lambda api: (f"/nodes/{a_node(api)}/drain", {"reason": "new fans"}),
    "POST /nodes/{name}/resume": lambda api: (f"/nodes/{a_node(api)}/resume", {}),
    "PATCH /nodes/{name}": lambda api: (f"/nodes/{a_node(api)}", {"port": 2222}),
    "DELETE /nodes/{name}": lambda api: (f"/nodes/{a_node(api)}", None),
    "POST /nodes/{name}/forget": lambda api: (f"/nodes/{a_node(api)}/forget", {}),
    "PUT /notice": lambda _: ("/notice", {"text": "down at 18:00"}),
    "DELETE /notice": lambda _: ("/notice", None),
    "PUT /settings/{name}": lambda _: ("/settings/max_load", {"value": "0.1"}),
    "DELETE /settings/{name}": lambda _: ("/settings/max_load", None),
}
ELSEWHERE = {
    "POST /notify/test": "it changes nothing here; see tests/api/routes/test_notify.py",
    "POST /nodes": "a node is added once, as its name is taken then; see tests/ssh/test_nodes.py",
    "POST /nodes/{name}/try": "it changes nothing that is stored",
    "POST /jobs": "its token is in its body; see tests/faults/test_submits.py",
    "POST /jobs/form": "its token is in its body; see tests/api/routes/job/forms",
    "POST /jobs/{id}/objects": "it changes nothing",
    "PUT /snapshots/{tree}": "it is named by its content; see tests/api/routes/test_snapshots.py",
    "POST /results": "it changes nothing",
    "POST /results/csv": "it changes nothing",
    "POST /history/clean/preview": "it changes nothing",
    "POST /history/import": "jobs that are here are recognized; see tests/api/routes/history/test_exports.py",
    "POST /history/import/log": "a part is written at its offset; see tests/api/routes/history/test_exports.py",
    "POST /snapshots/missing": "it changes nothing",
    "POST /snapshots/objects": "they are named by their content; see tests/api/routes/test_snapshots.py",
    "POST /page/links": "each link works once; a link whose address was lost is never used",
    "POST /page/logout": "it may be repeated; see tests/web/test_app.py",
    "POST /stop": "it ends the controller; see tests/faults/test_repeats.py",
}


def ignored(api: Served) -> str:
    name = f"program-{os.urandom(4).hex()}"
    assert api.ask("POST", "/gpus/ignore", {"command": name})[0] == 200
    return name


@pytest.fixture
def calm(api: Served) -> Iterator[Served]:
    """The queue and the reservations are as before when the test ends."""
    api.processes = []  # type: ignore[attr-defined]
    yield api
    api.ask("POST", "/queue/resume", {})
    for reservation in api.ask("GET", "/reservations")[1]["reservations"]:
        api.ask("POST", f"/reservations/{reservation['id']}/end", {})
    api.ask("POST", "/gpus/resume", {"gpus": ["0"]})
    api.ask("POST", "/gpus/slots", {"gpus": ["0"], "slots": 1})
    api.ask("DELETE", "/settings/max_load")
    for process in api.processes:  # type: ignore[attr-defined]
        process.kill()
        process.wait()


def test_every_route_that_changes_something_is_here() -> None:
    changing = {f"{route.method} {route.shown_path}" for route in ROUTES if route.method != "GET"}
    assert changing == {*REQUESTS, *ELSEWHERE}


@pytest.mark.parametrize("route", REQUESTS)
def test_a_repetition_gets_the_same_answer(calm: Served, route: str) -> None:
    path, body = REQUESTS[route](calm)
    method = route.partition(" ")[0]
    key = {"Idempotency-Key": os.urandom(16).hex()}
    first = calm.ask(method, path, body, key)
    assert first[0] < 400, first
    again = calm.ask(method, path, body, key)
    assert unchanging(again) == unchanging(first)


# What another person does between a request and its repetition, and where the result can be seen.
MEANWHILE: dict[str, tuple[str, str, Any, str]] = {
    "PATCH /jobs/{id}": ("PATCH", "/jobs/last", {"priority": 4}, "/jobs/last"),
    "POST /jobs/edit": ("PATCH", "/jobs/last", {"priority": 4}, "/jobs/last"),
    "POST /jobs/hold": ("POST", "/jobs/release", {"ids": ["last"]}, "/jobs/last"),
    "POST /queue/pause": ("POST", "/queue/resume", {}, "/queue"),
    "POST /queue/resume": ("POST", "/queue/pause", {"reason": "y"}, "/queue"),
    "POST /queue/drain": ("POST", "/queue/resume", {}, "/queue"),
    "POST /queue/stop": ("POST", "/queue/resume", {}, "/queue"),
    "POST /gpus/drain": ("POST", "/gpus/resume", {"gpus": ["0"]}, "/gpus"),
    "POST /gpus/resume": ("POST", "/gpus/drain", {"gpus": ["0"], "reason": "y"}, "/gpus"),
    "POST /gpus/slots": ("POST", "/gpus/slots", {"gpus": ["0"], "slots": 2}, "/gpus"),
    "PUT /settings/{name}": ("PUT", "/settings/max_load", {"value": "0.9"}, "/settings/max_load"),
    "DELETE /settings/{name}": ("PUT", "/settings/max_load", {"value": "0.9"}, "/settings/max_load"),
}
SEEN = ("priority", "state", "paused", "draining", "reason", "drained", "slots", "value")


@pytest.mark.parametrize("route", MEANWHILE)
def test_a_repetition_does_not_undo_what_happened_meanwhile(calm: Served, route: str) -> None:
    path, body = REQUESTS[route](calm)
    method = route.partition(" ")[0]
    key = {"Idempotency-Key": os.urandom(16).hex()}
    assert calm.ask(method, path, body, key)[0] < 400
    other_method, other_path, other_body, shown_at = MEANWHILE[route]
    before = seen(calm.ask("GET", shown_at)[1])
    assert calm.ask(other_method, other_path, other_body)[0] < 400
    meanwhile = seen(calm.ask("GET", shown_at)[1])
    assert meanwhile != before
    assert calm.ask(method, path, body, key)[0] < 400
    assert seen(calm.ask("GET", shown_at)[1]) == meanwhile


def seen(view: dict[str, Any]) -> list[Any]:
    return [{name: one.get(name) for name in SEEN} for one in view.get("gpus") or [view] if isinstance(one, dict)]


def test_a_key_counts_for_its_own_route_only(calm: Served) -> None:
    key = {"Idempotency-Key": os.urandom(16).hex()}
    assert calm.ask("POST", "/queue/pause", {"reason": "x"}, key)[1]["paused"]
    assert not calm.ask("POST", "/queue/resume", {}, key)[1]["paused"]
    (first,) = calm.ids(NOTHING, entry="held")
    (second,) = calm.ids(NOTHING, entry="held")
    for job in (first, second):
        assert calm.ask("PATCH", f"/jobs/{job}", {"priority": 3}, key)[1]["priority"] == 3


# Moments, counts of jobs, and why a node that is tried again and again cannot be reached.
CHANGING = {"since", "running", "queued", "state", "reason", "problem"}


def unchanging(answer: tuple[int, Any]) -> tuple[int, Any]:
    """Without what may change by itself between two looks at a job."""
    status, content = answer
    return status, {name: value for name, value in content.items() if name not in CHANGING}


def test_a_repetition_is_not_carried_out_again(calm: Served) -> None:
    key = {"Idempotency-Key": "once"}
    calm.ask("POST", "/reservations", {"gpus": 1, "from": 4e9, "for_s": 60}, key)
    calm.ask("POST", "/reservations", {"gpus": 1, "from": 4e9, "for_s": 60}, key)
    assert len(calm.ask("GET", "/reservations")[1]["reservations"]) == 1
    another = calm.ask("POST", "/reservations", {"gpus": 1, "from": 4e9, "for_s": 60}, {"Idempotency-Key": "another"})
    assert another[0] == 201, another
    assert len(calm.ask("GET", "/reservations")[1]["reservations"]) == 2


def test_a_repetition_of_a_kill_of_last_does_not_kill_a_newer_job(calm: Served) -> None:
    (first,) = calm.ids({"command": ["sleep", "60"], "gpus": 0})
    key = {"Idempotency-Key": "last"}
    calm.ask("POST", "/jobs/kill", {"ids": ["last"], "grace_s": 0}, key)
    (second,) = calm.ids({"command": ["sleep", "60"], "gpus": 0})
    answer = calm.ask("POST", "/jobs/kill", {"ids": ["last"], "grace_s": 0}, key)
    assert answer[1]["asked"] == [first]
    calm.until(first, "cancelled")
    assert calm.until(second, "starting", "running")


def test_a_refusal_is_not_kept(calm: Served) -> None:
    job, key = a_held_job(calm), {"Idempotency-Key": "refused"}
    assert calm.ask("POST", f"/jobs/{job}/move", {"position": 1}, key)[0] == 409
    calm.ask("POST", "/jobs/release", of(job))
    calm.until(job, "succeeded")
    assert calm.ask("POST", f"/jobs/{job}/move", {"position": 1}, key)[0] == 409


@pytest.mark.parametrize("key", ["", "x" * 129])
def test_a_key_that_cannot_be_kept_is_refused(calm: Served, key: str) -> None:
    status, answer = calm.ask("POST", "/queue/resume", {}, {"Idempotency-Key": key})
    assert (status, answer["error"]["key"]) == (400, "request.wrong_key")
