"""The Python API. The command line uses it for everything it asks of the controller.

    from tarmac.client import Client
    job = Client().submit(["python", "train.py"], gpus=2)

The first call starts the controller if none runs. Calls that wait anyway (`wait`, `logs(follow=True)`, `events`) also
wait for a controller that restarts.
"""

from __future__ import annotations

from tarmac.client.admin import Admin
from tarmac.client.jobs import Jobs, selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

    from tarmac.client.answers import Group, Results
    from tarmac.client.groups import Asked
    from tarmac.client.jobs import Id
    from tarmac.client.records import Event, Gpu, Job, Setting

RESULTS_S = 300  # many large logs take their time
__all__ = ["Client", "Event", "Gpu", "Job", "Setting"]


class Client(Jobs, Admin):
    """Everything that can be asked of a controller."""

    def groups(self, *, state: str | None = None, owner: str | None = None, limit: int | None = None) -> list[Group]:
        """Arrays, sweeps and batches with the numbers of their jobs in each state, the newest first.

        `state`: "active" for those with a job that has not ended, "ended" for the others.
        """
        from tarmac.client.groups import listed

        return listed(self, {"state": state, "owner": owner}, limit)

    def group(self, group: int | str) -> Group:
        """The group with this id or name; "last" is the caller's newest one."""
        (found,) = self.call("GET", "/groups", query={"group": group})["groups"]
        return found  # type: ignore[no-any-return]

    def results(self, *ids: Id, **asked: Unpack[Asked]) -> Results:
        """Parameters and metrics of jobs: the last match of each pattern in the log, or the values of a JSON file.

        group="last", metrics=[{"name": "acc", "pattern": "acc=([0-9.]+)", "group": 1}], json="metrics.json", …
        """
        body = selection(ids, asked)  # type: ignore[arg-type]
        answer: Results = self.call("POST", "/results", body=body, within_s=RESULTS_S, waits_s=RESULTS_S)
        return answer


def __getattr__(name: str) -> object:
    """Import the records on first use: most commands print the JSON of an answer and don't need them."""
    if name in __all__:
        from tarmac.client import records

        return getattr(records, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
