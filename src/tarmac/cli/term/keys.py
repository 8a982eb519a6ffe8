"""Keys while a screen is redrawn: each is taken at once and not shown, and q leaves. Then it is all as before."""

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
LOCAL = 3  # where termios keeps the flags below


class Keys:
    def __init__(self) -> None:
        self.has_left = False
        self._before: list[Any] | None = None

    def take(self) -> None:
        """Nothing is done in the background, where to touch the terminal would stop this process."""
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
        """Leaving is for the main thread, which may be in the middle of a line."""
        while (key := os.read(STDIN, 1)) not in {b"q", b"Q"}:
            if not key:
                return
        self.has_left = True
        os.kill(os.getpid(), signals.SIGINT)
