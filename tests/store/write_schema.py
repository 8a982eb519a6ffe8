"""Writes the database of the present schema into tests/store/schemas: python -m tests.store.write_schema

Once per released schema, then never again: the file stands for what users have on their disks.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tarmac.core.model import Job
from tarmac.store import rows, schema
from tarmac.store.writer import Submission
from tests.core.builders import a_booking, a_job, a_spec, a_status
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


def jobs() -> list[Job]:
    """One job per state, named after it, each on a card of its own."""
    digest, _ = rows.pack_environment(ENVIRONMENT)
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
    digest, body = rows.pack_environment(ENVIRONMENT)
    kept = Submission(owner="ann", token="token", first_id=1, count=len(jobs()), at=100.0)
    with opened(path) as store:
        commit(store, new(*jobs(), environments={digest: body}, submissions=[kept]))
        commit(store, changed(story=(a_line(3, "Decided", at=105.0, node="box", gpus=[3]),)))


def main() -> None:
    path = FOLDER / f"v{schema.VERSION}.db"
    if path.exists():
        raise SystemExit(f"{path} is there already; a released schema is never written again. Remove it if unreleased.")
    write(path)
    print(f"wrote {path}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
