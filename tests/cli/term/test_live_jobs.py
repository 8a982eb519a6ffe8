"""The screen of `tarmac ls -w`, with jobs and groups."""

from __future__ import annotations

from typing import Any

from tarmac.cli.term.live_jobs import NOTHING, LiveJobs
from tarmac.client.records import Job

GROUP = {
    "id": 7, "kind": "sweep", "name": None, "command": "fit {lr}", "varies": "lr=1,2", "count": 4, "ended": 1,
    "counts": {"running": 1, "queued": 2, "failed": 1},
}  # fmt: skip
VALUES = dict.fromkeys(("number", "all", "expand", "groups", "group", "owner", "name", "tag", "state", "node"))


class Client:
    """What the screen asks of a client."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def queue(self) -> dict[str, Any]:
        return {**NOTHING, "queued": 2, "running": 1}

    def call(self, method: str, path: str, *, query: dict[str, Any]) -> dict[str, Any]:
        assert (method, path) == ("GET", "/jobs/recent")
        self.asked.append(query)
        return {"waiting": [], "at_work": [], "ended": [], "next": None}

    def jobs(self, **query: Any) -> list[Job]:
        self.asked.append(query)
        return []

    def groups(self, *, state: str | None = None, **_: Any) -> list[Any]:
        return [GROUP] if state == "active" else []


def screen(client: Client, **values: Any) -> list[str]:
    live = LiveJobs({**VALUES, **values}, [])
    live.fetch(client)  # type: ignore[arg-type]
    return live.rows(80, 20)


def test_a_group_has_one_line_and_its_jobs_are_not_asked_for() -> None:
    client = Client()
    rows = screen(client)
    assert [row.split()[0] for row in rows] == ["GROUP", "7"]
    assert "lr=1,2  fit {lr}" in rows[1]
    assert all(query["alone"] for query in client.asked)


def test_expanded_groups_are_lists_of_jobs() -> None:
    client = Client()
    screen(client, expand=True)
    assert not any(query["alone"] for query in client.asked)
