"""`-w`: a table redrawn in place when something changes, and every second for the clock.

The cursor and key echo are off meanwhile, and always restored at the end.
"""

from __future__ import annotations

import gc
import os
from time import monotonic, strftime

from tarmac.cli.render.text import cells, clipped, cut, plain_cells, safe, wrapped
from tarmac.cli.session import connect, silence
from tarmac.cli.term import signals
from tarmac.cli.term.keys import Keys
from tarmac.cli.term.terminal import STDOUT, has_colours, is_terminal, out, paint, size
from tarmac.client.controller_process.patience import keep_asking
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
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"  # a window may shrink before the next line is written
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
    keys, screen = Keys(), _Screen(view)
    client.on_silence = lambda pid, silent_s: screen.draw(silence(pid, silent_s))
    client.on_trouble = lambda reason: screen.note("trouble", f"the controller cannot write: {reason}")
    client.on_stale = lambda reason: screen.note("stale", reason)

    def leave(number: int) -> None:
        keys.restore()
        os.write(STDOUT, f"{WRAP}{SHOW}\n".encode())
        os._exit(0 if keys.has_left else 128 + number)

    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        signals.on(number, leave)
    keys.take()
    out(HIDE + NO_WRAP + HOME + REST_OF_SCREEN)
    signals.on(signals.SIGWINCH, lambda _: screen.resize())
    try:
        while True:
            _until_lost(client, view, screen)
    finally:
        keys.restore()
        out(WRAP + SHOW)


def _until_lost(client: Client, view: View, screen: _Screen) -> None:
    events = keep_asking(client, client.stream, "/events", None, {"Accept": "text/event-stream"})
    try:
        while True:
            screen.notes = {}  # each answer says again what is wrong
            keep_asking(client, view.fetch, client)
            fetched_at = monotonic()
            screen.draw()
            while not _has_changed(events, view.event, REDRAW_S) and not view.is_moving:
                if monotonic() > fetched_at + CHECK_S:
                    break
                screen.draw()
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


class _Screen:
    """Draws a view, again if the window changes its size meanwhile."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.notes: dict[str, str] = {}  # why what is shown may be old, one reason of each kind
        self._warning: Sequence[str] = ()
        self._is_drawing = False
        self._is_resized = False

    def draw(self, warning: Sequence[str] = ()) -> None:
        self._warning = warning
        self._is_drawing = True
        try:
            while True:
                self._is_resized = False
                out(self._picture())
                if not self._is_resized:
                    return
        finally:
            self._is_drawing = False

    def note(self, kind: str, reason: str) -> None:
        self.notes[kind] = safe(reason)

    def resize(self) -> None:
        """Called by a signal, perhaps in the middle of drawing."""
        self._is_resized = True
        if not self._is_drawing:
            self.draw(self._warning)

    def _picture(self) -> str:
        columns, height = size()
        room = max(1, height - 1)
        rows = [*self._warning, *self._noted(columns), *self._view.rows(columns, room)]
        if len(rows) > room:
            rows = [*rows[: room - 1], f"… {len(rows) - room + 1} more"]
        head = head_line(self._view.head(), strftime("%H:%M:%S"), columns)
        lines = [_ended(clipped(line, columns), columns) for line in [head, *rows]]
        # A terminal that became narrower has wrapped the lines it showed, so what is left of them is cleared as well.
        # No newline after the last line: it would scroll a full screen.
        return HOME + "\n".join(lines) + REST_OF_SCREEN

    def _noted(self, columns: int) -> list[str]:
        lines = [line for note in self.notes.values() for line in wrapped(note, columns)]
        return [paint(line, "bold red") for line in lines] if has_colours() else lines


def _ended(line: str, columns: int) -> str:
    """With the rest of the line cleared. Behind a full line, the cursor is on its last character."""
    return line if plain_cells(line) >= columns else line + REST_OF_LINE


def head_line(summary: str, clock: str, columns: int) -> str:
    """The summary, with the clock and the key hint if there is room."""
    for line in (f"{summary} · {clock} · q ends", f"{summary} · {clock}"):
        if cells(line) <= columns:
            return line
    return cut(summary, columns)
