"""`-w`: a table redrawn in place when something changes, and every second for the clock.

The cursor and key echo are off meanwhile, and always restored at the end.
"""

from __future__ import annotations

import gc
import os
from time import monotonic, strftime

from tarmac.cli.render.text import cells, cut
from tarmac.cli.session import connect, silence
from tarmac.cli.term import signals
from tarmac.cli.term.keys import Keys
from tarmac.cli.term.terminal import STDOUT, is_terminal, out, size
from tarmac.client.connection import keep_asking
from tarmac.errors import ConnectionLost, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from tarmac.client import Client
    from tarmac.client.transport import Response

    class View(Protocol):
        """The content of a screen. `event`: the change to listen for; `is_moving`: fetch every second anyway."""

        event: bytes

        @property
        def is_moving(self) -> bool: ...
        def fetch(self, client: Client) -> None: ...
        def head(self) -> str: ...
        def rows(self, columns: int, lines: int) -> list[str]: ...


HIDE, SHOW, HOME, REST_OF_LINE, REST_OF_SCREEN = "\x1b[?25l", "\x1b[?25h", "\x1b[H", "\x1b[K", "\x1b[J"
REDRAW_S = 1.0
CHECK_S = 30.0  # how often a controller is asked although nothing happens
LEAST_S = 0.1  # minimum time between two fetches


def watch(verb: str, view: View) -> int:
    if not is_terminal(STDOUT):
        hint = "leave out -w, or use `tarmac wait`" if verb == "ls" else "leave out -w"
        raise UserError(f"{verb}: -w redraws a terminal, and the output is not one", hint)
    gc.enable()  # it may run for days
    client = connect()
    view.fetch(client)  # report errors before taking over the screen
    client.on_silence = lambda pid, silent_s: _draw(view, silence(pid, silent_s))
    keys = Keys()

    def leave(number: int) -> None:
        keys.restore()
        os.write(STDOUT, f"{SHOW}\n".encode())
        os._exit(0 if keys.has_left else 128 + number)

    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        signals.on(number, leave)
    keys.take()
    out(HIDE + HOME + REST_OF_SCREEN)
    try:
        while True:
            _until_lost(client, view)
    finally:
        keys.restore()
        out(SHOW)


def _until_lost(client: Client, view: View) -> None:
    events = keep_asking(client, client.stream, "/events", None, {"Accept": "text/event-stream"})
    try:
        while True:
            keep_asking(client, view.fetch, client)
            fetched_at = monotonic()
            _draw(view)
            while not _has_changed(events, view.event, REDRAW_S) and not view.is_moving:
                if monotonic() > fetched_at + CHECK_S:
                    break
                _draw(view)
            _drain(events, fetched_at + LEAST_S)
    except ConnectionLost:
        pass
    finally:
        events.close()


def _has_changed(events: Response, event: bytes, within_s: float) -> bool:
    events.set_timeout(within_s)
    try:
        data = events.receive()
    except TimeoutError:
        return False
    return event in data


def _drain(events: Response, until: float) -> None:
    """Read events that follow closely, so that a burst of changes causes one redraw."""
    while (left := until - monotonic()) > 0:
        _has_changed(events, b"", left)


def _draw(view: View, warning: Sequence[str] = ()) -> None:
    columns, height = size()
    room = max(2, height - 1)
    rows = [*[cut(line, columns) for line in warning], *view.rows(columns, room)]
    if len(rows) > room:
        rows = [*rows[: room - 1], f"… {len(rows) - room + 1} more"]
    head = head_line(view.head(), strftime("%H:%M:%S"), columns)
    # No newline after the last line: it would scroll a full screen.
    out(HOME + "\n".join(f"{line}{REST_OF_LINE}" for line in [head, *rows]) + REST_OF_SCREEN)


def head_line(summary: str, clock: str, columns: int) -> str:
    """The summary, with the clock and the key hint if there is room."""
    for line in (f"{summary} · {clock} · q ends", f"{summary} · {clock}"):
        if cells(line) <= columns:
            return line
    return cut(summary, columns)
