"""Run as a program: commits jobs to a file one by one, and prints each id once it is on disk.

A test may kill it at any time and then check the contents of the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tarmac.core.events import JobsSubmitted, Reported
from tarmac.core.machine import handle
from tarmac.core.model.ids import JobId
from tarmac.store.batch import Batch, Submission
from tarmac.store.environments.environments import pack_environment
from tarmac.store.store import Store
from tests.core.support.builders import BOX, a_node, a_spec, exited
from tests.store.kept import commit


def main(path: Path) -> None:
    store = Store(path)
    state = store.load()
    state.nodes[BOX] = a_node(gpus=1)
    while True:
        number = state.next_id
        specs = tuple(a_spec(name=f"{number}", command=("x" * 2000,)) for _ in range(3))
        handle(state, JobsSubmitted(specs=specs), float(number))
        for job in [job for job in state.jobs if job < number]:
            handle(state, Reported(node=BOX, report=exited(job, exit_code=job % 256)), float(number))
        digest, body = pack_environment({"NUMBER": str(number)})
        token = Submission(owner="ann", token=str(number), first_id=number, count=3, at=float(number))
        commit(
            store,
            Batch(
                changes=state.take_changes(),
                environments={digest: body},
                submissions=[token],
                removed=[JobId(number - 30)] if number > 30 else [],
            ),
        )
        print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
