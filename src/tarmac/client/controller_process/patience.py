"""How long a client repeats a request. Loaded once a request was not served."""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.client.connection import PAUSE_S, TURNED_AWAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.connection import Link
    from tarmac.errors import TarmacError

LONGEST_PAUSE_S = 1.0  # of a request that is turned away
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
