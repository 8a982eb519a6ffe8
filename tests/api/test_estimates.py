"""Estimated starts: never at a moment when something known would prevent the start."""

import os
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from tests.api.served import Served
from tests.home import until

ONE = {"command": ["sleep", "60"], "gpus": 1}
TWO = {"command": ["sleep", "60"], "gpus": 2}
HOUR_S = 3600.0


@pytest.fixture(autouse=True)
def _as_before(api: Served) -> Iterator[None]:
    yield
    for one in api.ask("GET", "/reservations")[1]["reservations"]:
        api.ask("POST", f"/reservations/{one['id']}/end", {})
    for name in ("backfill", "starvation_s"):
        api.ask("DELETE", f"/settings/{name}")


def reserve(api: Served, gpus: int, begin_s: float, for_s: float, user: str = "bob") -> dict[str, Any]:
    body = {"gpus": gpus, "from": time.time() + begin_s, "for_s": for_s, "user": user}
    status, answer = api.ask("POST", "/reservations", body)
    assert status == 201, answer
    return answer  # type: ignore[no-any-return]


def why(api: Served, job: int) -> dict[str, Any]:
    return api.ask("GET", f"/jobs/{job}/why")[1]  # type: ignore[no-any-return]


def in_s(answer: dict[str, Any]) -> float:
    """Seconds until the estimated start."""
    return datetime.fromisoformat(answer["estimated_start"]).timestamp() - time.time()


def test_a_job_blocked_by_a_reservation_is_estimated_to_start_at_its_end(api: Served) -> None:
    kept = reserve(api, 2, 0, HOUR_S)
    (job,) = api.ids({**ONE, "time_limit_s": 60})
    answer = why(api, job)
    assert answer["estimated_start"] == kept["ends_at"]
    assert answer["estimate_basis"] == "the end of a reservation"
    assert answer["free"]["gpus"] == 0
    assert all("free, but reserved for bob from" in gpu["text"] for gpu in answer["gpus"])


def test_a_job_that_would_run_into_a_later_reservation_is_estimated_after_it(api: Served) -> None:
    reserve(api, 2, HOUR_S, HOUR_S)
    (running,) = api.ids({**TWO, "time_limit_s": 1800})
    api.until(running, "running")
    short, long = api.ids({**TWO, "time_limit_s": 60}, {**TWO, "time_limit_s": 2 * HOUR_S})
    assert in_s(why(api, short)) < HOUR_S
    assert in_s(why(api, long)) > 1.9 * HOUR_S
    assert "reserved for bob" in why(api, long)["gpus"][0]["text"]
    assert "reserved" not in why(api, short)["gpus"][0]["text"]


def test_the_first_of_several_reservations_on_a_gpu_is_named(api: Served) -> None:
    reserve(api, 2, 2 * HOUR_S, HOUR_S, "ann")
    reserve(api, 2, 0, HOUR_S)
    (job,) = api.ids(ONE)
    assert all("reserved for bob" in gpu["text"] for gpu in why(api, job)["gpus"])


def test_a_job_that_waits_for_cpus_is_estimated_to_start_when_they_are_free(api: Served) -> None:
    (running,) = api.ids({**ONE, "cpus": 1, "time_limit_s": HOUR_S})
    api.until(running, "running")
    (waiting,) = api.ids({**ONE, "cpus": len(os.sched_getaffinity(0))})
    answer = why(api, waiting)
    assert [reason["kind"] for reason in answer["reasons"]] == ["host_booked"]
    assert in_s(answer) > HOUR_S - 60
    assert answer["estimate_basis"] == "the time limits of jobs"


def test_without_backfill_no_job_is_estimated_before_the_jobs_ahead_of_it(api: Served) -> None:
    api.ask("PUT", "/settings/backfill", {"value": "off"})
    (running,) = api.ids({**ONE, "time_limit_s": HOUR_S})
    api.until(running, "running")
    wide, narrow = api.ids({**TWO, "time_limit_s": 60}, {**ONE, "time_limit_s": 60})
    assert [reason["kind"] for reason in why(api, narrow)["reasons"]] == ["behind"]
    assert why(api, narrow)["estimated_start"] > why(api, wide)["estimated_start"]


def test_gpus_kept_for_a_job_delay_the_estimates_of_the_jobs_after_it(api: Served) -> None:
    (running,) = api.ids({**ONE, "name": "endless"})
    api.until(running, "running")
    api.ask("PUT", "/settings/starvation_s", {"value": "0"})
    wide, narrow = api.ids(TWO, ONE)
    answer = why(api, narrow)
    assert [reason["kind"] for reason in answer["reasons"]] == ["kept_for"]
    assert answer["estimated_start"] is None
    assert answer["free"]["gpus"] == 0
    assert any(gpu["text"] == f"free, but held back for job {wide}" for gpu in answer["gpus"])


def test_a_held_job_names_what_else_it_waits_for(api: Served) -> None:
    (running,) = api.ids(TWO)
    api.until(running, "running")
    others = api.ids(TWO, TWO)
    after = [f"{job}:any" for job in others]
    waiting = {**ONE, "after": after, "begin_at": time.time() + HOUR_S}
    (held,), (draft,) = (api.ids(waiting, entry=entry) for entry in ("held", "draft"))
    kinds = [reason["kind"] for reason in why(api, held)["reasons"]]
    assert kinds == ["held_by", "waits_for", "waits_for", "not_before"]
    assert why(api, draft)["reasons"][1:] == why(api, held)["reasons"][1:]
    assert f"waits for jobs {others[0]}-{others[1]} to end" in why(api, held)["lines"]


def test_a_dependent_job_names_a_pause_of_the_queue_as_well(api: Served) -> None:
    (running,) = api.ids(TWO)
    (job,) = api.ids({**ONE, "after": [str(running)]})
    api.ask("POST", "/queue/pause", {"reason": "dinner"})
    try:
        assert [reason["kind"] for reason in why(api, job)["reasons"]] == ["waits_for", "paused"]
    finally:
        api.ask("POST", "/queue/resume", {})


def test_an_estimate_that_rests_on_progress_says_so(api: Served) -> None:
    bar = " 45%|####      | 45/100 [00:45<50:00,  1.00it/s]"
    limits = {"time_limit_s": 10 * HOUR_S}
    (running,) = api.ids({"shell": f"printf %s '{bar}'; sleep 60", "gpus": 2, **limits})
    api.until(running, "running")
    (waiting,) = api.ids({**TWO, **limits})

    def rests_on() -> list[str]:
        return api.ask("GET", f"/jobs?ids={waiting}")[1]["jobs"][0]["estimate_rests_on"]  # type: ignore[no-any-return]

    assert until(lambda: rests_on() == ["progress"])
    answer = why(api, waiting)
    assert answer["estimate_basis"] == "the progress of jobs"
    assert 0.5 * HOUR_S < in_s(answer) < HOUR_S, "not the limit"
    assert "(based on its progress)" in answer["gpus"][0]["text"]


def test_an_estimate_that_rests_on_a_limit_says_so(api: Served) -> None:
    (running,) = api.ids({**TWO, "time_limit_s": HOUR_S})
    api.until(running, "running")
    (waiting,) = api.ids(TWO)
    assert api.ask("GET", f"/jobs?ids={waiting}")[1]["jobs"][0]["estimate_rests_on"] == ["limit"]
