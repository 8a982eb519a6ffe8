"""The Python API, and the only way in which the command line talks to the controller.

    from tarmac.client import Client
    job = Client().submit(["python", "train.py"], gpus=2)

The first call starts the controller if none runs. A controller that restarts in the middle is waited for
wherever waiting is what was asked: `wait`, `logs(follow=True)`, `events`.
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
    """The records are loaded when they are named: most commands print what came as it came."""
    if name in __all__:
        from tarmac.client import records

        return getattr(records, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
