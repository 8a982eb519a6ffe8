"""Keys of a live screen: read at once, without echo; q leaves. Restores the terminal afterwards."""

from __future__ import annotations

import os
import termios
from _thread import start_new_thread

from tarmac.cli.term import signals
from tarmac.cli.term.terminal import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STDIN = 0
LOCAL = 3  # index of the local flags in termios


class Keys:
    def __init__(self) -> None:
        self.has_left = False
        self._before: list[Any] | None = None

    def take(self) -> None:
        """Does nothing in a background process, which changing the terminal would suspend."""
        if not is_terminal(STDIN) or os.tcgetpgrp(STDIN) != os.getpgrp():
            return
        self._before = termios.tcgetattr(STDIN)
        mine = termios.tcgetattr(STDIN)
        mine[LOCAL] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(STDIN, termios.TCSADRAIN, mine)
        start_new_thread(self._read, ())

    def restore(self) -> None:
        if self._before is not None:
            termios.tcsetattr(STDIN, termios.TCSADRAIN, self._before)
            self._before = None

    def _read(self) -> None:
        """Leave the exit to the main thread, which may be in the middle of a line."""
        while (key := os.read(STDIN, 1)) not in {b"q", b"Q"}:
            if not key:
                return
        self.has_left = True
        os.kill(os.getpid(), signals.SIGINT)
