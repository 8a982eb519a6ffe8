"""Reports and metrics over HTTP."""

from __future__ import annotations

import time

import pytest

from tests.api.served import Served
from tests.home import Home, until

SUMS = {
    "jobs", "held_s", "pause_s", "measured_s", "used_s", "utilization", "energy_j", "peak_gpu_memory_bytes",
}  # fmt: skip


@pytest.mark.parametrize("by", ["owner", "project", "gpu", "day"])
def test_every_group_serves_the_same_total(api: Served, by: str) -> None:
    (job,) = api.ids({"command": ["sleep", "0.2"], "gpus": 2, "project": "p"})
    api.until(job, "succeeded")
    status, found = api.ask("GET", f"/report?by={by}")
    assert status == 200
    assert (found["by"], found["foreign"]) == (by, None)
    assert set(found["total"]) == SUMS
    assert set(found["rows"][0]) == SUMS | {"name", "node", "uuid"}
    assert sum(row["held_s"] for row in found["rows"]) == pytest.approx(found["total"]["held_s"], abs=0.01)
    assert found["total"]["held_s"] >= 0.4
    if by == "gpu":
        assert [row["jobs"] for row in found["rows"]] == [None, None]
        assert [row["name"] for row in found["rows"]] == ["0", "1"]
    else:
        assert sum(row["jobs"] for row in found["rows"]) == found["total"]["jobs"]


def test_a_report_covers_whole_days(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 1})
    api.until(job, "succeeded")
    now = time.time()
    assert api.ask("GET", f"/report?since={now - 1}")[1]["total"]["jobs"] >= 1
    assert api.ask("GET", f"/report?since={now - 1}&until={now + 1}")[1]["total"]["jobs"] >= 1
    past = api.ask("GET", f"/report?since=0&until={now - 3 * 86400}")[1]
    assert (past["rows"], past["total"]["jobs"]) == ([], 0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("by=month", "by must be"),
        ("since=-1", "since must be"),
        ("since=soon", "since must be"),
        ("since=99999999999", "the report would begin after its end"),
        ("since=2000&until=1000", "the report would begin after its end"),
        ("from=1", "from"),
    ],
)
def test_bad_queries_are_refused(api: Served, query: str, message: str) -> None:
    status, answer = api.ask("GET", f"/report?{query}")
    assert (status, message in answer["error"]["message"]) == (400, True), answer


def test_a_submit_says_what_auto_books(api: Served) -> None:
    status, answer = api.submit({"command": ["true"], "gpus": 1, "gpu_memory_bytes": "auto", "name": "unheard"})
    assert status == 201
    assert "no earlier run of 'unheard' is known" in answer["hints"][0]
    assert api.submit({"command": ["true"], "gpus": 1})[1]["hints"] == []
    status, answer = api.submit({"command": ["true"], "gpu_memory_bytes": "much"})
    assert (status, "a whole number" in answer["error"]["message"]) == (400, True), answer
    assert "auto" in answer["error"]["message"]


def test_a_report_as_csv_is_what_the_command_line_prints(api: Served, shared_home: Home) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 1, "project": "=p"})
    api.until(job, "succeeded")
    for by in ("owner", "project", "gpu", "day"):
        answer = api.get(f"/report/csv?by={by}")
        assert answer.headers.get_content_type() == "text/csv"
        assert (answer.headers.get_filename() or "").startswith(f"tarmac-report-by-{by}-")
        assert answer.read().decode() == shared_home.tarmac("report", "--by", by, "--csv").stdout


def test_days_are_named_in_the_time_zone_of_the_controller(api: Served) -> None:
    found = api.ask("GET", "/report?first_day=2026-02-01&last_day=2026-02-28")[1]
    assert (found["since"], found["until"]) == ("2026-02-01", "2026-02-28")
    for query, message in [
        ("first_day=2026-02-30", "2026-02-30 is not a day"),
        ("first_day=0000-00-00", "is not a day"),
        ("first_day=today", "first_day must"),
        ("first_day=2026-02-01&last_day=2026-02-30", "2026-02-30 is not a day"),
        ("first_day=2026-02-01&since=5", "since cannot be used together with first_day"),
        ("last_day=2026-02-01&until=5", "until cannot be used together with last_day"),
        ("first_day=2026-02-02&last_day=2026-02-01", "the report would begin after its end"),
    ]:
        status, answer = api.ask("GET", f"/report?{query}")
        assert (status, message in answer["error"]["message"]) == (400, True), answer


def test_hours_say_how_busy_all_gpus_were(api: Served) -> None:
    (job,) = api.ids({"command": ["sleep", "1.5"], "gpus": 1})
    api.until(job, "running")

    def held_s() -> float:
        found = api.ask("GET", "/report/hours?since=0")[1]
        today = found["days"][-1]
        assert [len(today[name]) for name in ("present_s", "held_s", "measured_s", "used_s")] == [24] * 4
        return sum(value or 0.0 for value in today["held_s"])

    assert until(lambda: held_s() > 0)
    past = api.ask("GET", "/report/hours?first_day=2020-02-01&last_day=2020-02-29")[1]
    assert (len(past["days"]), past["days"][0]["present_s"]) == (29, [None] * 24)
    assert (past["since"], past["until"]) == ("2020-02-01", "2020-02-29")
    year = api.ask("GET", "/report/hours?first_day=2020-01-01&last_day=2020-12-31")[1]
    assert len(year["days"]) == 366
    century = api.ask("GET", "/report/hours?first_day=1920-01-01&last_day=2020-02-29")[1]
    assert (len(century["days"]), century["until"]) == (400, "2020-02-29")
