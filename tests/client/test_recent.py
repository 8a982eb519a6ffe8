"""The jobs of `ls` are of one moment; of a long queue, none is missing although jobs move on between the pages."""

from typing import Any

import pytest

from tarmac.client import recent
from tarmac.client.recent import RecentJobs, recent_jobs


def raw(number: int, state: str) -> dict[str, Any]:
    return {"id": number, "state": state}


class Moving:
    """A client whose jobs change after each answer."""

    def __init__(self, *moments: dict[int, str]) -> None:
        self.moments = [*moments, moments[-1]]
        self.asked: list[str] = []

    def call(self, _: str, path: str, query: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(path)
        now = self.moments.pop(0) if len(self.moments) > 1 else self.moments[0]
        jobs = [raw(number, state) for number, state in sorted(now.items())]
        waiting = [job for job in jobs if job["state"] == "queued" and job["id"] > (query.get("after") or 0)]
        page = waiting[: query.get("waiting") or query["limit"]]
        after = page[-1]["id"] if len(page) < len(waiting) else None
        if path == "/jobs":
            return {"jobs": page, "next": after}
        return {
            "waiting": page,
            "at_work": [job for job in jobs if job["state"] == "running"],
            "ended": [job for job in jobs if job["state"] == "failed"][::-1][: query["ended"]],
            "next": after,
        }


def ask(client: Moving, most: int | None = None) -> RecentJobs:
    return recent_jobs(client, ended=3, most=most, alone=False, fields="id", waiting_fields="id")  # type: ignore[arg-type]


def states(found: RecentJobs) -> dict[int, str]:
    return {job.id: job.state for job in [*found.active.values(), *found.ended]}


def test_a_short_queue_takes_one_request() -> None:
    client = Moving({1: "running", 2: "queued", 3: "failed"}, {})
    assert states(ask(client)) == {1: "running", 2: "queued", 3: "failed"}
    assert client.asked == ["/jobs/recent"]


def test_the_beginning_of_a_long_queue_takes_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "PAGE", 2)
    client = Moving(dict.fromkeys(range(1, 9), "queued"))
    assert states(ask(client, most=2)) == {1: "queued", 2: "queued"}
    assert client.asked == ["/jobs/recent"]


@pytest.mark.parametrize("then", ["running", "failed", "queued"])
@pytest.mark.parametrize("first", ["running", "queued"])
@pytest.mark.parametrize("job", [1, 5])
def test_no_job_of_a_long_queue_is_missing_or_listed_twice(
    monkeypatch: pytest.MonkeyPatch, job: int, first: str, then: str
) -> None:
    monkeypatch.setattr(recent, "PAGE", 2)
    others = dict.fromkeys((2, 3, 4, 6), "queued")
    found = ask(Moving({**others, job: first}, {**others, job: then}))
    listed = [one.id for one in [*found.active.values(), *found.ended]]
    assert sorted(listed) == sorted({*others, job})
