"""The screen of `tarmac ls -w`: the table of `ls`."""

from __future__ import annotations

from tarmac.cli.render.jobs import MOST
from tarmac.cli.render.listing import Asked, Listing, fetch, lines
from tarmac.cli.render.notice import notice_lines
from tarmac.cli.render.queue_mode import alarm
from tarmac.cli.term.terminal import has_colours, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import Queue


NOTHING: Queue = {
    "paused": False, "draining": False, "by": None, "reason": None, "since": None, "queued": 0, "running": 0,
    "policy": "", "order": "", "notice": None,
}  # fmt: skip


class LiveJobs:
    event = b"event: job"

    def __init__(self, values: Values, words: list[str]) -> None:
        self._asked = Asked(values, words)
        self._listing = Listing()
        self._queue = NOTHING

    @property
    def is_moving(self) -> bool:
        """While jobs run or wait, progress, estimates and the queue mode can change without an event."""
        return bool(self._queue["running"] or self._queue["queued"])

    def fetch(self, client: Client) -> None:
        """Fetch only the beginning of a long queue, to keep frequent requests cheap."""
        self._queue = client.queue()
        self._listing = fetch(client, self._asked, most=MOST)

    def head(self) -> str:
        return f"{self._queue['running']} running, {self._queue['queued']:,} queued"

    def rows(self, columns: int, _: int) -> list[str]:
        colours = has_colours()
        warning = alarm(self._queue, columns)
        warning = [paint(line, "bold red") for line in warning] if colours else warning
        notice = notice_lines(self._queue.get("notice"), columns, has_colours=colours)
        return [*notice, *warning, *lines(self._listing, width=columns, has_colours=colours)]
