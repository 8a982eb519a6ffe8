"""Views of many jobs cost no query for each of them."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from tarmac.api.schemas.job.job import JobView
from tarmac.api.views.job import Viewer
from tarmac.api.views.job_fields import COMPUTED, NEEDS
from tarmac.controller.controller import Controller
from tarmac.core.model.ids import NodeName
from tarmac.core.model.status import Booking, Draft, Held, Queued, Succeeded
from tests.controller.engine.desk import RecordingFleet, run, specs


@pytest.mark.parametrize("count", [1, 200])
def test_the_number_of_queries_is_not_that_of_the_jobs(tmp_path: Path, count: int) -> None:
    async def story(controller: Controller, _: RecordingFleet) -> None:
        event = specs()
        many = replace(event, specs=event.specs * count, entry="held")
        ids = await controller.submissions.submit(many, {}, None, lambda _: None)
        waiting = controller.jobs(list(ids))
        booking = Booking(node=NodeName("here"), gpus=())
        ended = Succeeded(booking=booking, pid=1, started_at=1.0, ended_at=2.0)
        jobs = [*waiting, *(replace(job, status=ended, attempt=1) for job in waiting)]
        queries: list[str] = []
        connection: sqlite3.Connection = controller.store.reader._connection
        connection.set_trace_callback(queries.append)
        listed = Viewer(controller).fields(jobs, JobView.__struct_fields__)
        connection.set_trace_callback(None)
        assert [view["id"] for view in listed] == [*ids, *ids]
        assert len(queries) == 2, queries  # for links, and for what was used
        assert msgspec.json.encode(listed[0]) == msgspec.json.encode(Viewer(controller).job(jobs[0]))

    run(tmp_path, story)


def test_what_a_state_lacks_is_empty_in_every_view(tmp_path: Path) -> None:
    """Such fields are not computed: the getters must agree."""

    async def story(controller: Controller, _: RecordingFleet) -> None:
        ids = await controller.submissions.submit(replace(specs(), entry="held"), {}, None, lambda _: None)
        (job,) = controller.jobs(list(ids))
        viewer, states = Viewer(controller), (Queued(), Held(by="ada", since=1.0), Draft())
        for status in states:
            other = replace(job, status=status)
            (view,) = viewer.fields([other], JobView.__struct_fields__)
            empty = {name: need.empty for name, need in NEEDS.items() if not hasattr(status, need.attribute)}
            assert {"gpus", "node", "started_at", "pause_s"} <= empty.keys()
            computed = {name: COMPUTED[name](viewer, other) for name in empty}
            assert {name: view[name] for name in empty} == empty
            assert msgspec.json.encode(computed) == msgspec.json.encode(empty)

    run(tmp_path, story)
