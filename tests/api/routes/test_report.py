"""Reports and metrics over HTTP."""

from __future__ import annotations

import time

import pytest

from tests.api.served import Served

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
    assert "knows no run of 'unheard'" in answer["hints"][0]
    assert api.submit({"command": ["true"], "gpus": 1})[1]["hints"] == []
    status, answer = api.submit({"command": ["true"], "gpu_memory_bytes": "much"})
    assert (status, "a whole number" in answer["error"]["message"]) == (400, True), answer
    assert "auto" in answer["error"]["message"]
