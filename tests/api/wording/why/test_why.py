"""Why a job waits, as it is told to people and programs."""

import time
from datetime import UTC, datetime
from typing import Any

from tests.api.served import Served

SLEEP = {"command": ["sleep", "60"], "gpus": 1}
WIDE = {"command": ["sleep", "60"], "gpus": 2}


def why(api: Served, job: int) -> dict[str, Any]:
    status, answer = api.ask("GET", f"/jobs/{job}/why")
    assert status == 200, answer
    return answer  # type: ignore[no-any-return]


def test_each_gpu_is_listed_with_its_holder_since_when_and_until_when(api: Served) -> None:
    (limited,) = api.ids({**SLEEP, "time_limit_s": 7200})
    (open_ended,) = api.ids({**SLEEP, "name": "endless"})
    running = [api.until(job, "running") for job in (limited, open_ended)]
    before, waiting = api.ids({**WIDE, "time_limit_s": 60}, {**WIDE, "name": "big"})
    answer = why(api, waiting)
    assert (answer["id"], answer["state"], answer["position"], answer["ahead"]) == (waiting, "queued", 2, 1)
    assert answer["asked"]["gpus"] == 2
    assert (answer["free"]["gpus"], answer["free"]["total"]) == (0, 2)
    gpus = {gpu["jobs"][0]: gpu for gpu in answer["gpus"]}
    assert gpus[limited]["uuid"] == running[0]["gpus"][0]["uuid"]
    assert f"held by job {limited} of {running[0]['owner']} since" in gpus[limited]["text"]
    assert "at the latest (time limit)" in gpus[limited]["text"]
    assert gpus[limited]["until"] > running[0]["started_at"]
    assert gpus[open_ended]["text"].endswith("its end is not known")
    assert gpus[open_ended]["until"] is None
    assert [reason["kind"] for reason in answer["reasons"]] == ["too_few_gpus"]
    assert (answer["reasons"][0]["asked"], answer["reasons"][0]["free"]) == (2, 0)
    title, asked, free, *rest = answer["lines"]
    assert f"job {waiting} (big)" in title
    assert "1 job ahead in the queue" in title
    assert asked == "requested: 2 GPUs, priority 10, no time limit"
    assert free == "available now: 0 of 2 GPUs"
    assert any(line.startswith(f"  GPU {running[0]['gpus'][0]['index']}: held by job {limited}") for line in rest)
    assert why(api, before)["ahead"] == 0


def test_a_gpu_with_too_little_memory_says_so_in_numbers(api: Served) -> None:
    for _ in range(2):
        (job,) = api.ids({**SLEEP, "gpu_memory_bytes": 18 * 2**30, "gpus": 1})
        api.until(job, "running")
    (waiting,) = api.ids({**SLEEP, "gpu_memory_bytes": 20 * 2**30})
    texts = [gpu["text"] for gpu in why(api, waiting)["gpus"]]
    assert any("6.0G of 24.0G is free; 20.0G requested" in text for text in texts), texts


def test_an_estimate_names_its_basis(api: Served) -> None:
    (running,) = api.ids({**WIDE, "time_limit_s": 3600})
    started = api.until(running, "running")["started_at"]
    (waiting,) = api.ids(WIDE)
    answer = why(api, waiting)
    assert answer["estimated_start"] > started
    assert answer["estimate_basis"]
    assert "~" in answer["lines"][-1]
    assert answer["estimate_basis"] in answer["lines"][-1]
    listed = api.ask("GET", f"/jobs?ids={waiting}&fields=estimated_start,estimate_basis,position")[1]["jobs"][0]
    assert listed["estimate_basis"] == answer["estimate_basis"]
    assert listed["position"] == 1


def test_gpus_held_back_for_a_wide_job_are_shown_to_it_and_to_later_jobs(api: Served) -> None:
    (running,) = api.ids({**SLEEP, "time_limit_s": 3600})
    api.until(running, "running")
    wide, narrow = api.ids(WIDE, SLEEP)
    assert any("held back for this job" in line for line in why(api, wide)["lines"])
    answer = why(api, narrow)
    assert [reason["kind"] for reason in answer["reasons"]] == ["kept_for"]
    assert f"held back for job {wide}" in answer["reasons"][0]["text"]


def test_a_planned_start_that_rests_on_the_owners_last_runs_names_no_time(api: Served) -> None:
    """Nor does it claim that the job has waited for long."""
    (earlier,) = api.ids({**SLEEP, "command": ["true"], "name": "earlier"})
    api.until(earlier, "succeeded")
    (running,) = api.ids({**SLEEP, "name": "never seen before"})
    api.until(running, "running")
    wide, narrow = api.ids(WIDE, {**SLEEP, "time_limit_s": 7200})
    answer = why(api, narrow)
    (reason,) = answer["reasons"]
    assert (reason["kind"], reason["at"], reason["is_overdue"]) == ("kept_for", None, False)
    assert reason["text"] == f"2 GPUs are held back for job {wide}; this job might delay its start"
    assert answer["lines"][-1] == why(api, wide)["lines"][-1] == "estimated start: unknown"
    (line,) = (line for line in why(api, wide)["lines"] if "held back" in line)
    assert line.endswith("held back for this job; jobs that might delay it do not start on them")


def test_a_job_that_others_have_passed_for_long_is_said_to_be_overdue(api: Served) -> None:
    api.ask("PUT", "/settings/starvation_s", {"value": "0"})
    try:
        (running,) = api.ids({**SLEEP, "name": "not seen before, either"})
        api.until(running, "running")
        wide, narrow = api.ids(WIDE, {**SLEEP, "time_limit_s": 7200})
        reason, patient_until = why(api, narrow)["reasons"][0], time.monotonic() + 60
        while not reason.get("is_overdue") and time.monotonic() < patient_until:
            reason = why(api, narrow)["reasons"][0]
        assert reason["text"] == f"2 GPUs are held back for job {wide}, which others have passed for a long time"
        assert any("this job, which others have passed for a long time; " in line for line in why(api, wide)["lines"])
    finally:
        api.ask("DELETE", "/settings/starvation_s")


def test_reasons_other_than_gpus_are_listed(api: Served) -> None:
    (running,) = api.ids(SLEEP)
    api.until(running, "running")
    (held,) = api.ids(SLEEP, entry="held")
    assert [reason["kind"] for reason in why(api, held)["reasons"]] == ["held_by"]
    (later,) = api.ids({**SLEEP, "begin_at": time.time() + 3600, "after": [f"{running}:any"]})
    answer = why(api, later)
    assert [reason["kind"] for reason in answer["reasons"]] == ["waits_for", "not_before"]
    assert answer["ahead"] is None
    assert f"waits for job {running} to end" in answer["lines"]


def test_clocks_are_in_the_time_zone_of_the_caller(api: Served) -> None:
    at = datetime(2031, 7, 1, 12, tzinfo=UTC)
    (job,) = api.ids({**SLEEP, "begin_at": at.timestamp()})

    def told(zone: str) -> str:
        lines = api.ask("GET", f"/jobs/{job}/why", headers={"Tarmac-Zone": zone})[1]["lines"]
        return next(line for line in lines if line.startswith("cannot start before"))

    assert told("Asia/Tokyo") == "cannot start before 2031-07-01 21:00"
    assert told("America/New_York") == "cannot start before 2031-07-01 08:00"
    own = f"cannot start before {at.astimezone():%Y-%m-%d %H:%M}"
    assert [told(zone) for zone in ("No/Where", "../../etc/passwd", "CET-1CEST", "America", "")] == [own] * 5


def test_a_running_job_has_no_reasons(api: Served) -> None:
    (job,) = api.ids({**SLEEP, "time_limit_s": 3600})
    seen = api.until(job, "running")
    answer = why(api, job)
    assert any(
        line.startswith(f"on {seen['node']} GPU {seen['gpus'][0]['index']} since") and line.endswith("(time limit)")
        for line in answer["lines"]
    )
    assert (answer["state"], answer["reasons"], answer["gpus"], answer["position"]) == ("running", [], [], None)
    assert api.ask("GET", "/jobs/999999/why")[0] == 404


def test_every_job_of_a_long_page_has_its_place_and_its_reason(api: Served) -> None:
    (running,) = api.ids({**WIDE, "time_limit_s": 3600})
    api.until(running, "running")
    ids = api.ids(*[WIDE] * 1000)
    page = api.ask("GET", "/jobs?state=queued&limit=1000")[1]["jobs"]
    assert [job["position"] for job in page] == list(range(1, 1001))
    assert [job["id"] for job in page] == ids
    assert all(job["reason"] for job in page)
