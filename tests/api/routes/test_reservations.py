"""Reservations of GPUs, over HTTP."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.served import Served

SLEEP = {"command": ["sleep", "60"], "gpus": 1}


@pytest.fixture(autouse=True)
def _none_left(api: Served) -> Iterator[None]:
    yield
    for one in reservations(api):
        api.ask("POST", f"/reservations/{one['id']}/end", {})


def reservations(api: Served) -> list[dict[str, Any]]:
    return api.ask("GET", "/reservations")[1]["reservations"]  # type: ignore[no-any-return]


def reserve(api: Served, gpus: int = 1, begin_s: float = 0, for_s: float = 3600, **more: Any) -> dict[str, Any]:
    body = {"gpus": gpus, "from": time.time() + begin_s, "for_s": for_s, **more}
    status, answer = api.ask("POST", "/reservations", body)
    assert status == 201, answer
    return answer  # type: ignore[no-any-return]


def test_a_gpu_says_for_whom_it_is_reserved_now_or_next(api: Served) -> None:
    later = reserve(api, gpus=2, begin_s=7200, user="bob")
    now = reserve(api)
    both = api.ask("GET", "/gpus")[1]["gpus"]
    kept = {gpu["uuid"]: gpu["reserved"] for gpu in both}
    (uuid,) = (gpu["uuid"] for gpu in now["gpus"])
    assert kept.pop(uuid) == {
        "id": now["id"],
        "owner": now["owner"],
        "begins_at": now["begins_at"],
        "ends_at": now["ends_at"],
        "active": True,
    }
    (other,) = kept.values()
    assert (other["id"], other["owner"], other["active"]) == (later["id"], "bob", False)
    for one in (now, later):
        api.ask("POST", f"/reservations/{one['id']}/end", {})
    assert [gpu["reserved"] for gpu in api.ask("GET", "/gpus")[1]["gpus"]] == [None, None]


def test_a_reservation_is_listed_until_it_is_ended(api: Served) -> None:
    later = reserve(api, begin_s=7200, user="bob")
    now = reserve(api)
    assert (now["active"], later["active"]) == (True, False)
    assert (later["owner"], later["used"]) == ("bob", False)
    assert later["by"] == now["owner"]
    assert [one["id"] for one in reservations(api)] == [now["id"], later["id"]]
    assert api.ask("POST", f"/reservations/{now['id']}/end", {})[1]["active"] is False
    assert [one["id"] for one in reservations(api)] == [later["id"]]
    assert api.ask("POST", f"/reservations/{now['id']}/end", {})[0] == 404
    assert reserve(api)["id"] > later["id"], "a number is never given twice"


def test_jobs_of_other_users_wait_with_the_reason(api: Served) -> None:
    kept = reserve(api, gpus=2, user="bob")
    (job,) = api.ids(SLEEP)
    seen = api.ask("GET", f"/jobs/{job}")[1]
    assert seen["state"] == "queued"
    assert f"reservation {kept['id']} of bob" in seen["reason"]
    api.ask("POST", f"/reservations/{kept['id']}/end", {})
    api.until(job, "running")


def test_a_job_that_ends_before_the_reservation_may_run(api: Served) -> None:
    reserve(api, gpus=2, begin_s=7200, user="bob")
    short, long = api.ids({**SLEEP, "time_limit_s": 60}, {**SLEEP, "time_limit_s": 9000})
    api.until(short, "running")
    assert api.ask("GET", f"/jobs/{long}")[1]["state"] == "queued"


def test_the_owners_jobs_use_the_reservation(api: Served) -> None:
    kept = reserve(api)
    (job,) = api.ids(SLEEP)
    assert api.until(job, "running")["gpus"][0]["uuid"] == kept["gpus"][0]["uuid"]
    assert reservations(api)[0]["used"] is True


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"gpus": 0, "for_s": 60}, 400),
        ({"gpus": 1, "for_s": 0}, 400),
        ({"gpus": 1, "for_s": 367 * 86400}, 400),
        ({"gpus": 3, "for_s": 60}, 400),
        ({"gpus": 1, "for_s": 60, "from": 1000}, 400),
        ({"gpus": 1, "for_s": 60, "user": ""}, 400),
        ({"gpus": 1}, 400),
        ({"gpus": 1, "for_s": 60, "node": "x"}, 400),
    ],
)
def test_impossible_reservations_are_refused(api: Served, body: dict[str, Any], status: int) -> None:
    assert api.ask("POST", "/reservations", {"from": time.time() + 10, **body})[0] == status
    assert reservations(api) == []


def test_an_unknown_user_gives_a_warning(api: Served) -> None:
    assert reserve(api, user="nobody-of-that-name")["warnings"] == [
        "this machine has no user nobody-of-that-name, and nobody-of-that-name has no jobs"
    ]
    assert reserve(api)["warnings"] == []
    assert all("warnings" not in one for one in reservations(api))


@pytest.mark.parametrize(
    ("more", "why"),
    [({"name": "endless"}, "its end is not known"), ({"time_limit_s": 7200}, "its time limit ends later")],
)
def test_a_job_that_may_run_into_the_reservation_gives_a_warning(api: Served, more: dict[str, Any], why: str) -> None:
    jobs = api.ids({**SLEEP, **more}, {**SLEEP, "time_limit_s": 60})
    seen = [api.until(job, "running") for job in jobs]
    other = "daemon" if seen[0]["owner"] == "root" else "root"
    made = reserve(api, gpus=2, begin_s=3600, user=other)
    index = seen[0]["gpus"][0]["index"]
    words = (
        f"GPU {index}: held by job {jobs[0]} of {seen[0]['owner']}, perhaps beyond the start of the reservation ({why})"
    )
    assert made["warnings"] == [words]
    assert reserve(api, gpus=2, begin_s=9000)["warnings"] == [], "one's own are not in one's way"


def test_gpus_are_not_reserved_twice(api: Served) -> None:
    reserve(api, gpus=2, begin_s=3600, for_s=3600)
    body = {"gpus": 1, "from": time.time() + 5400, "for_s": 3600, "user": "bob"}
    status, answer = api.ask("POST", "/reservations", body)
    assert (status, answer["error"]["code"]) == (409, "conflict")
    assert reserve(api, gpus=2, begin_s=7201)["id"]
