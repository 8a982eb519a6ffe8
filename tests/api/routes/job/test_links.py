"""Addresses of experiment trackers that jobs write to their logs."""

from __future__ import annotations

import time
from typing import Any

from tests.api.served import DEADLINE_S, Served

RUN = "https://wandb.ai/ann/project/runs/a1b2c3d4"


def kept(api: Served, job: int) -> list[Any]:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        _, seen = api.ask("GET", f"/jobs/{job}")
        if seen["links"]:
            return seen["links"]  # type: ignore[no-any-return]
        api.ask("GET", f"/jobs/wait?ids={job}&timeout_s=0.1")
    raise AssertionError("no links")


def test_links_are_kept_when_a_job_has_ended_and_removed_with_it(api: Served) -> None:
    (job,) = api.ids({"shell": f"echo 'wandb: View run at {RUN}'; sleep 1.1", "gpus": 0})
    assert kept(api, job) == [{"kind": "wandb", "url": RUN}]
    _, listed = api.ask("GET", f"/jobs?ids={job}")
    assert listed["jobs"][0]["links"] == [{"kind": "wandb", "url": RUN}]
    _, listed = api.ask("GET", f"/jobs?ids={job}&fields=id,links")
    assert listed["jobs"] == [{"id": job, "links": [{"kind": "wandb", "url": RUN}]}]
    assert api.ask("POST", "/jobs/rm", {"ids": [str(job)]})[0] == 200
