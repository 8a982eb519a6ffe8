"""One `ssh` process, with `tarmac dial-stdio` at its other end, and the channels between the two.

ssh gets one end of a pair of sockets as its stdin and stdout. Whatever login files print there is skipped: the answer
begins with a random word that was sent with the command.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
from time import monotonic, sleep

from tarmac import __version__
from tarmac.client.remote import failure
from tarmac.client.remote.command import MARK, MISSING, remote_command, ssh
from tarmac.errors import TooNew, Unavailable
from tarmac.shared.channels import Channels
from tarmac.shared.names import API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO, Any

    from tarmac.client.remote.address import Address

ANSWER_S: float = 60  # without a terminal; at one, a person may be typing a password
TOLD_EVERY_S: float = 5
MOST_PRINTED = 1 << 20  # bytes that login files may print
LINGER_S = 1
# ssh must not end with Ctrl-C, which asks a job to stop: the request goes through it. A shell ignores it for ssh.
PATIENT = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "ssh"]


class Login:
    """`about`: what the other end said about itself, its account and its environment."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.about: dict[str, Any] = {}
        self._pid = os.getpid()
        self._at_terminal = os.isatty(0) or os.isatty(2)
        self._mark = os.urandom(16).hex()
        self._errors: IO[bytes] | None = None
        self._channels: Channels | None = None
        if shutil.which("ssh") is None:
            raise Unavailable("this machine has no `ssh` program", "install OpenSSH's client", failure.REFUSED)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = self._start(theirs)

    def wait(self, on_silence: Callable[[int, float], None] | None = None) -> None:
        """Return once the other end has answered."""
        try:
            self.about, rest = self._wait_for_answer(on_silence)
        except BaseException:
            self.close()
            raise
        stream = self._socket.detach()
        self._channels = Channels(stream, stream, lambda _: (b"", None))
        self._run_apart(self._channels, rest)

    @property
    def is_alive(self) -> bool:
        """False after the connection ended, and in a fork of the process that made it."""
        return self._pid == os.getpid() and self._channels is not None and not self._channels.is_over

    def open(self, *, start: bool) -> socket.socket:
        """A socket to the controller. Its first line says whether the controller was reached."""
        assert self._channels is not None
        ours, theirs = socket.socketpair()
        self._channels.open(theirs.detach(), b"start" if start else b"")
        return ours

    def end(self) -> None:
        """Before this process ends: a login that is not complete, and perhaps asks for a password, ends, too.

        Otherwise ssh ends by itself, once its stdin does. Others may be using its connection (ControlMaster).
        """
        if self._pid == os.getpid() and self._channels is None:
            self._process.terminate()

    def close(self) -> None:
        if self._pid != os.getpid() or self._process.returncode is not None:
            return
        self._socket.close()
        if self._channels is not None:
            self._channels.stop()
        else:
            self._process.terminate()
        for ask in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(LINGER_S)
                break
            except subprocess.TimeoutExpired:
                ask()
        self._process.wait()
        if self._errors is not None:
            self._errors.close()

    def __del__(self) -> None:
        if hasattr(self, "_process"):  # ssh was started
            self.close()

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        import tempfile

        if not self._at_terminal:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = remote_command(self._mark, ["dial-stdio", "--channels", MARK])
        return subprocess.Popen(
            [*PATIENT, *ssh(self.address, command, batch=not self._at_terminal)],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=self._errors,
        )

    def _wait_for_answer(self, on_silence: Callable[[int, float], None] | None) -> tuple[dict[str, Any], bytes]:
        began, printed, mark = monotonic(), b"", self._mark.encode() + b" "
        self._socket.settimeout(TOLD_EVERY_S)
        while True:
            found = printed.find(mark)
            line_end = printed.find(b"\n", found) if found >= 0 else -1
            if line_end >= 0:
                self._socket.settimeout(None)
                return self._read_answer(printed[found + len(mark) : line_end]), printed[line_end + 1 :]
            waited_s = monotonic() - began
            if waited_s >= ANSWER_S and not self._at_terminal:
                raise failure.no_answer(self.address, printed, self._said(), is_late=True)
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                if on_silence is not None and not self._at_terminal:
                    on_silence(0, waited_s)
                continue
            except OSError:
                data = b""
            printed += data
            if not data or len(printed) > MOST_PRINTED:
                raise self._failure(printed)

    def _read_answer(self, line: bytes) -> dict[str, Any]:
        if line.strip() == MISSING.encode():
            raise failure.no_tarmac(self.address)
        about: dict[str, Any] = json.loads(line)
        if about["api"] < API:
            raise TooNew(
                f"{self.address.name} has tarmac {about['version']} (API {about['api']}), "
                f"this machine {__version__} (API {API})",
                f"upgrade tarmac on {self.address.name}; its jobs continue",
            )
        return about

    def _failure(self, printed: bytes) -> Exception:
        try:
            code = self._process.wait(LINGER_S)
        except subprocess.TimeoutExpired:
            code = None
        if code == 255:  # of ssh itself
            return failure.login_failed(self.address, self._said(), is_shown=self._at_terminal)
        return failure.no_answer(self.address, printed, self._said(), is_late=False)

    def _said(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(0)
        return self._errors.read(1 << 16).decode("utf-8", "replace")

    @staticmethod
    def _run_apart(channels: Channels, rest: bytes) -> None:
        """In a thread that gets no signals: Ctrl-C must interrupt the thread that waits for an answer."""
        everything = signal.valid_signals()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, everything)
        try:
            threading.Thread(target=channels.run, args=(rest,), daemon=True, name="tarmac-ssh").start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Logins:
    """The login of one client. A new one is made when the last ended, at most once a second."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._login: Login | None = None
        self._tried_at = float("-inf")

    def current(self, on_silence: Callable[[int, float], None] | None = None) -> Login:
        if self._login is None or not self._login.is_alive:
            self.close()
            sleep(max(0.0, self._tried_at + 1 - monotonic()))
            self._tried_at = monotonic()
            self._login = Login(self.address)
            self._login.wait(on_silence)
        return self._login

    def end(self) -> None:
        """Called by signal handlers, before the process ends."""
        if self._login is not None:
            self._login.end()

    def close(self) -> None:
        if self._login is not None:
            self._login.close()
            self._login = None
