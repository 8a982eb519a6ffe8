"""Writes the database of the present schema into tests/store/schemas: python -m tests.store.write_schema

Run it once per released schema and never again: the file represents the databases of users.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import After, Job
from tarmac.core.model.node import NodeDrain
from tarmac.core.model.queue import Mode, Reservation
from tarmac.core.model.status import Draft, Held, Queued, Requeue
from tarmac.store.batch import Batch, Link, Submission
from tarmac.store.database import schema
from tarmac.store.environments.environments import pack_environment
from tests.core.support.builders import a_booking, a_job, a_spec, a_status
from tests.store.kept import a_line, changed, commit, new, opened

FOLDER = Path(__file__).parent / "schemas"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "EMPTY": ""}
STATUSES = (
    "queued",
    "starting",
    "running",
    "stopping",
    "unknown",
    "unknown-ended",
    "succeeded",
    "failed",
    "cancelled",
)


MODE = Mode(is_paused=True, by="ann", reason="the disk is full", since=150.0)
RESERVATION = Reservation(
    id=1, owner="bob", node=NodeName("box"), gpus=(GpuUuid("box-0"),), begins_at=200.0, ends_at=300.0, by="ann"
)
DRAIN = NodeDrain(reason="new fans", by="ann", since=160.0)
LINK = Link(7, "wandb", "https://wandb.example/runs/7")
HOURS = {(7, "ann", ""): 60.0, (7, "bob", "p"): 1.5}


def jobs(version: int = schema.VERSION) -> list[Job]:
    """One job per state, named after it, each on a separate GPU; and data that later versions store."""
    return [*_jobs_of_the_first(), *(_jobs_of_the_third() if version >= 3 else ())]


def _jobs_of_the_third() -> list[Job]:
    digest, _ = pack_environment(ENVIRONMENT)
    asked = a_spec(
        environment=digest,
        signal=10,
        tier="preemptible",
        time_limit_s=90.0,
        begin_at=5e9,
        after=(After(job=JobId(1), on="any"),),
        max_running=2,
    )
    first, second, third = (a_job(number) for number in (11, 12, 13))
    return [
        replace(first, spec=asked, group=JobId(11), index=0, position=0.5, status=Held(by="ann", since=140.0)),
        replace(
            second,
            spec=asked,
            group=JobId(11),
            index=1,
            status=Queued(since=150.0, requeued=Requeue(why="preempted")),
        ),
        replace(third, spec=replace(third.spec, environment=digest), status=Draft()),
    ]


def _jobs_of_the_first() -> list[Job]:
    digest, _ = pack_environment(ENVIRONMENT)
    made = []
    for number, name in enumerate(STATUSES, 1):
        job = a_job(number, status=a_status(name, a_booking(number)))
        made.append(replace(job, spec=replace(job.spec, name=name, environment=digest)))
    full = a_spec(
        gpus=2,
        environment=digest,
        command=None,
        shell="make train",
        name="full",
        project="p",
        tags=("a", "b"),
        priority=3,
        stdout="/tmp/out",
        stderr="/tmp/err",
        append=True,
        grace_s=1.5,
    )
    return [*made, replace(a_job(len(made) + 1), spec=full)]


def write(path: Path) -> None:
    digest, body = pack_environment(ENVIRONMENT)
    kept = Submission(owner="ann", token="token", first_id=1, count=len(jobs()), at=100.0)
    with opened(path) as store:
        commit(store, new(*jobs(), environments={digest: body}, submissions=[kept]))
        queue = Changes(
            mode=MODE, reservations={1: RESERVATION}, hours=dict(HOURS), node_drains={NodeName("box"): DRAIN}
        )
        commit(store, Batch(changes=queue, links=[LINK]))
        commit(store, changed(story=(a_line(3, "Decided", at=105.0, node="box", gpus=[3]),)))


def main() -> None:
    path = FOLDER / f"v{schema.VERSION}.db"
    if path.exists():
        raise SystemExit(f"{path} is there already; a released schema is never written again. Remove it if unreleased.")
    write(path)
    print(f"wrote {path}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
