"""A pseudo-terminal for commands that behave differently on a terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from typing import Self

from tests.home import BIN, Home, until

ESCAPE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")


class Terminal:
    """A command with a terminal as its stdin, stdout and stderr. `text` is all that it has written so far."""

    def __init__(
        self,
        home: Home,
        *words: str,
        columns: int = 80,
        lines: int = 24,
        program: str = str(BIN / "tarmac"),
        **environment: str,
    ) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            [program, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**home.environment, **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # so that Ctrl-C finds it
        )
        os.close(slave)
        self.written = b""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)
        self.reader.join(10)
        os.close(self.master)

    @property
    def text(self) -> str:
        return self.written.decode(errors="replace")

    def resize(self, columns: int, lines: int) -> None:
        """The kernel tells the command."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def frames(self) -> list[list[str]]:
        """What a live screen has drawn, without colours: each frame begins at the top left."""
        frames = self.text.split("\x1b[H")[2:]
        return [[ESCAPE.sub("", line) for line in frame.splitlines()] for frame in frames]

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def sees(self, words: str, within_s: float = 20) -> bool:
        return bool(until(lambda: words in self.text, within_s))

    def ends(self, within_s: float = 30) -> int:
        """Its exit code, once all its output has been read."""
        code = self.process.wait(within_s)
        self.reader.join(10)
        return code

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return  # the other end is closed
            if not data:
                return
            self.written += data
