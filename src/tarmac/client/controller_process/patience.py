"""How long a client repeats a request: one that was not served, or one of a command that waits anyway."""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.client.connection import PAUSE_S, TURNED_AWAY
from tarmac.client.transport import NoAnswer, NoController
from tarmac.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    from tarmac.client.connection import Link
    from tarmac.errors import TarmacError

    P = ParamSpec("P")
    T = TypeVar("T")

LONGEST_PAUSE_S = 1.0  # of a request that is turned away
LASTING = frozenset({"agent.silent", "log.silent", "remote.refused"})  # keys of refusals that a retry does not change
CRASHED_S = 1  # … before starting a new one, if the old one left its socket behind
STOPPED_S = 20  # … before starting a new one, if the old one was stopped, perhaps for an upgrade
SAY_AFTER_S = 5  # that a request is turned away


class Patience:
    """How long to repeat a request that was not served, and how often."""

    def __init__(self, client: Link) -> None:
        self._client = client
        self._since = monotonic()
        self._pause_s = PAUSE_S

    @property
    def waited_s(self) -> float:
        return monotonic() - self._since

    @property
    def is_over(self) -> bool:
        return self.waited_s > self._client.patience_s

    def pause(self, error: TarmacError) -> None:
        """Longer each time if the request is turned away, because it is one of many."""
        if error.key in TURNED_AWAY and self.waited_s > SAY_AFTER_S and self._client.on_stale is not None:
            self._client.on_stale(f"{error.message}; trying again")
        sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S) if error.key in TURNED_AWAY else PAUSE_S


def keep_asking(client: Link, ask: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Repeat the request while the controller is away or turns it away, for as long as a restart may take.

    A controller that was reached before is not replaced at once: it may be restarting, or was stopped on purpose.
    """
    may_start, repeats = client.start, client.repeats
    patience: Patience | None = None
    client.start, client.repeats = may_start and not client.was_reached, False
    try:
        while True:
            try:
                return ask(*args, **options)
            except NoAnswer:
                raise  # already waited for it
            except Unavailable as error:
                patience = patience or Patience(client)
                if error.key in LASTING or not client.was_reached or patience.is_over:
                    raise
                client.start = may_start and patience.waited_s > _restart_after_s(error)
                patience.pause(error)
    finally:
        client.start, client.repeats = may_start, repeats


def _restart_after_s(error: Unavailable) -> float:
    return STOPPED_S if isinstance(error, NoController) and error.was_stopped else CRASHED_S
