"""The Python API. The command line uses it for everything it asks of the controller.

    from tarmac.client import Client
    job = Client().submit(["python", "train.py"], gpus=2)

The first call starts the controller if none runs. Calls that wait anyway (`wait`, `logs(follow=True)`, `events`) also
wait for a controller that restarts.
"""

from __future__ import annotations

from tarmac.client.admin import Admin
from tarmac.client.jobs import Jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.records import Event, Gpu, Job, Setting

__all__ = ["Client", "Event", "Gpu", "Job", "Setting"]


class Client(Jobs, Admin):
    """Everything that can be asked of a controller."""


def __getattr__(name: str) -> object:
    """Import the records on first use: most commands print the JSON of an answer and don't need them."""
    if name in __all__:
        from tarmac.client import records

        return getattr(records, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
