"""`tarmac ls -w`: the table redrawn in place when something changes, and every second for the clock.

The cursor is hidden while it lasts and comes back however it ends.
"""

from __future__ import annotations

import gc
import os
from time import monotonic, strftime

from tarmac.cli import signals
from tarmac.cli.listing import MOST, fetch, fetch_all, table
from tarmac.cli.selection import is_given, query_of
from tarmac.cli.session import connect
from tarmac.cli.terminal import STDOUT, has_colours, is_terminal, out, size
from tarmac.client.link import keep_asking
from tarmac.errors import ConnectionLost, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.grammar import Values
    from tarmac.client import Client
    from tarmac.client.transport import Response

HIDE, SHOW, HOME, REST_OF_LINE, REST_OF_SCREEN = "\x1b[?25l", "\x1b[?25h", "\x1b[H", "\x1b[K", "\x1b[J"
REDRAW_S = 1.0
LEAST_S = 0.1  # between two fetches, however much happens


def watch(values: Values, words: list[str]) -> int:
    if not is_terminal(STDOUT):
        raise UserError("ls: -w redraws a terminal, and the output is not one", "leave out -w, or use `tarmac wait`")
    gc.enable()  # it may go on for days
    client = connect()
    client.call("GET", "/status")  # whatever is wrong is said before the screen is taken
    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        signals.on(number, _leave)
    out(HIDE + HOME + REST_OF_SCREEN)
    try:
        while True:
            _until_lost(client, values, words)
    finally:
        out(SHOW)


def _leave(number: int) -> None:
    os.write(STDOUT, f"{SHOW}\n".encode())
    os._exit(128 + number)


def _until_lost(client: Client, values: Values, words: list[str]) -> None:
    events = keep_asking(client, client.stream, "/events", None, {"Accept": "text/event-stream"})
    try:
        while True:
            status = keep_asking(client, client.status)
            jobs = keep_asking(client, _jobs, client, values, words)
            fetched_at = monotonic()
            _draw(jobs, status)
            while not _has_changed(events, REDRAW_S) and not status["running"]:
                _draw(jobs, status)  # while something runs, it is asked again for its progress
            _drain(events, fetched_at + LEAST_S)
    except ConnectionLost:
        pass
    finally:
        events.close()


def _jobs(client: Client, values: Values, words: list[str]) -> list[dict[str, Any]]:
    """No more of a long queue than could be of interest, so that asking often costs the controller little."""
    query, limit = query_of(values, words), values["number"]
    if values["all"] or is_given(values, words):
        return fetch_all(client, query, limit=limit or MOST)
    return fetch(client, query, limit=limit, most=MOST)[0]


def _has_changed(events: Response, within_s: float) -> bool:
    events.set_timeout(within_s)
    try:
        data = events.receive()
    except TimeoutError:
        return False
    return b"event: job" in data


def _drain(events: Response, until: float) -> None:
    """Take what follows closely, so that a burst of changes is one redraw."""
    while (left := until - monotonic()) > 0:
        _has_changed(events, left)


def _draw(jobs: list[dict[str, Any]], status: dict[str, Any]) -> None:
    columns, height = size()
    rows = table(jobs, width=columns, has_colours=has_colours())
    room = max(2, height - 2)
    if len(rows) > room:
        rows = [*rows[: room - 1], f"… {len(rows) - room + 1} more"]
    head = f"{status['running']} running, {status['queued']:,} queued · {strftime('%H:%M:%S')} · Ctrl-C ends"
    screen = "".join(f"{line}{REST_OF_LINE}\n" for line in [head[:columns], *rows])
    out(HOME + screen + REST_OF_SCREEN)
