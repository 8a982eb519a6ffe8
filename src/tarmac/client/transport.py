"""HTTP/1.1 over the controller's Unix socket: one request at a time per connection, bodies whole or streamed.

Written on `_socket`, because importing the standard library's client takes longer than starting Python.
"""

from __future__ import annotations

import _socket
import os
from sys import byteorder

from tarmac import __version__
from tarmac.errors import ConnectionLost, NotAllowed, Unavailable
from tarmac.paths import SUN_PATH_BYTES
from tarmac.shared.names import API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import ParamSpec, TypeAlias, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")
    OnSilence: TypeAlias = Callable[[int, float], None]

RECEIVE_BYTES = 1 << 18
HEAD_BYTES = 1 << 16
CONNECT_S = 60
SILENCE_S: float = 5  # after which a waiting user is told
_COMMON = f"Host: tarmac\r\nTarmac-Api: {API}\r\nUser-Agent: tarmac/{__version__}\r\nAccept: application/json\r\n"


class NoController(Unavailable):
    """No controller listens on the socket, so nothing was sent. `was_stopped`: it removed its socket."""

    was_stopped = False


class NoAnswer(Unavailable):
    """A process accepts requests but does not answer: busy, stopped, or stuck. Pid 0: unknown."""

    def __init__(self, pid: int) -> None:
        from tarmac.client.controller_process.liveness import diagnose_silence

        who = f"the controller (pid {pid})"
        how = diagnose_silence(pid) if pid else "crowded"
        super().__init__(
            *{
                "busy": (
                    f"{who} is busy; the request may still be carried out",
                    "run `tarmac status` or `tarmac ls` later to check",
                ),
                "crowded": (
                    "the controller accepts no more requests: too many are waiting",
                    "nothing was sent; try again later. Its pid is in controller.lock in the state directory",
                ),
                "stopped": (
                    f"{who} does not answer: it is stopped, as by Ctrl-Z",
                    f"run `kill -CONT {pid}` to continue it; the request may then still be carried out",
                ),
                "stuck": (
                    f"{who} does not answer and is not doing anything",
                    f"run `kill -9 {pid}`; the next command starts a new controller, and running jobs continue",
                ),
            }[how]
        )


class Connection:
    """One socket to the controller. `is_idle` is true once the last answer was read completely.

    `pid` is the process that serves it, 0 if unknown. `on_silence` is called with the pid and the seconds, again and
    again, while the controller does not take or send any data. It may raise TimeoutError.
    """

    __slots__ = ("_buffer", "_limit_s", "_socket", "is_idle", "on_silence", "path", "pid")

    is_local = True

    def __init__(self, path: str, on_silence: OnSilence | None = None) -> None:
        self.path = path
        self.is_idle = True
        self.on_silence = on_silence
        self._limit_s: float | None = None
        self._buffer = bytearray()
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
        _connect(self._socket, path, on_silence)
        self.pid, uid, _ = memoryview(self._socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)).cast("I")
        if uid not in {os.geteuid(), 0}:
            # A submit contains the whole environment, including secrets.
            self.close()
            raise NotAllowed(
                f"{path} is served by another user (uid {uid}), so nothing was sent",
                "set TARMAC_HOME to a directory that you own, or leave it unset",
            )

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        within_s: float | None = None,
    ) -> Response:
        """Send a request and read the head of the answer. Raises ConnectionLost if the controller goes away.

        `within_s`: raise TimeoutError after waiting this long for data.
        """
        head = f"{method} {target} HTTP/1.1\r\n{_COMMON}"
        if self.is_local and (auth_socket := os.environ.get("SSH_AUTH_SOCK")):
            head += _ssh_agent(auth_socket)
        if zone := _zone():
            head += f"Tarmac-Zone: {zone}\r\n"
        for name, value in (headers or {}).items():
            head += f"{name}: {value}\r\n"
        if body is not None:
            head += "" if headers and "Content-Type" in headers else "Content-Type: application/json\r\n"
            head += f"Content-Length: {len(body)}\r\n"
        self.is_idle = False
        self.set_timeout(within_s)
        try:
            self._send((head + "\r\n").encode("ascii") + (body or b""))
        except TimeoutError:
            raise
        except OSError as error:
            # A refusal may have arrived although the controller did not read the whole request.
            if not self._has_answer():
                raise self.lost(error) from None
        while True:
            status, fields = self._read_head()
            if status >= 200:
                return Response(self, status, fields)

    def set_timeout(self, seconds: float | None) -> None:
        """Raise TimeoutError if a read takes longer than this."""
        self._limit_s = seconds
        self._socket.settimeout(SILENCE_S if seconds is None or seconds > SILENCE_S else seconds)

    def fill(self) -> bool:
        """Receive more data; False at the end of the stream."""
        try:
            data = self._patiently(self._socket.recv, RECEIVE_BYTES)
        except TimeoutError:
            raise
        except OSError as error:
            raise self.lost(error) from None
        self._buffer += data
        return bool(data)

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._patiently(self._socket.send, left, _socket.MSG_NOSIGNAL) :]

    def _patiently(self, act: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Try again until the limit, and report the silence meanwhile."""
        silent_s = 0.0
        while True:
            try:
                return act(*args, **options)
            except TimeoutError:
                if self._limit_s is not None and silent_s + SILENCE_S >= self._limit_s:
                    raise
            silent_s += SILENCE_S
            if self.on_silence is not None:
                self.on_silence(self.pid, silent_s)

    def take(self, limit: int) -> bytes:
        """Up to `limit` bytes, at least one; empty at the end of the stream."""
        if not self._buffer and not self.fill():
            return b""
        data = bytes(self._buffer[:limit])
        del self._buffer[:limit]
        return data

    def line(self) -> bytes:
        """One line without its line end. Raises ConnectionLost if the stream ends first."""
        start = 0
        while (end := self._buffer.find(b"\n", start)) < 0:
            start = len(self._buffer)
            if start > HEAD_BYTES:
                raise Unavailable("the answer is not HTTP", f"check that a Tarmac controller listens on {self.path}")
            if not self.fill():
                raise self.lost()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line.removesuffix(b"\r")

    def is_open(self) -> bool:
        """False if the controller has closed this idle connection."""
        self._socket.settimeout(0)  # any other timeout would wait for data
        try:
            return bool(self._socket.recv(1, _socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def lost(self, error: OSError | None = None) -> ConnectionLost:
        """The error for a request that was not answered."""
        detail = f" ({error.strerror})" if error is not None and error.strerror else ""
        return ConnectionLost(
            f"the controller went away during a request{detail}", "try again; see `tarmac log controller`"
        )

    def no_answer(self) -> NoAnswer:
        """The error for a request that takes too long."""
        return NoAnswer(self.pid)

    def detach(self) -> int:
        """The descriptor of its socket, which is the caller's from now on."""
        return self._socket.detach()

    def close(self) -> None:
        self.is_idle = False
        self._socket.close()

    __del__ = close  # no ResourceWarning for a client that was not closed

    def _read_head(self) -> tuple[int, dict[str, str]]:
        first = self.line().decode("latin-1").split(" ", 2)
        if len(first) < 2 or not first[0].startswith("HTTP/1.") or not first[1].isdigit():
            raise Unavailable("the answer is not HTTP", f"check that a Tarmac controller listens on {self.path}")
        fields: dict[str, str] = {}
        while line := self.line():
            name, _, value = line.decode("latin-1").partition(":")
            fields[name.strip().lower()] = value.strip()
        return int(first[1]), fields

    def _has_answer(self) -> bool:
        try:
            return self.fill()
        except (OSError, ConnectionLost):
            return False


class Response:
    """An answer whose body has not been read yet."""

    __slots__ = ("_connection", "_left", "fields", "status")

    def __init__(self, connection: Connection, status: int, fields: dict[str, str]) -> None:
        self.status = status
        self.fields = fields
        self._connection = connection
        self._left: int | None = int(fields["content-length"]) if "content-length" in fields else None
        if status in {204, 304}:
            self._left = 0

    def chunks(self) -> Iterator[bytes]:
        """The body, chunk by chunk."""
        if "chunked" in self.fields.get("transfer-encoding", "").lower():
            yield from self._chunked()
        elif self._left is None:
            while data := self._connection.take(RECEIVE_BYTES):
                yield data
            self._connection.close()
            return
        else:
            yield from self._counted(self._left)
        self._connection.is_idle = self.fields.get("connection", "").lower() != "close"

    def read(self) -> bytes:
        return b"".join(self.chunks())

    def receive(self) -> bytes:
        """Some raw bytes of the body, framing included, for callers that only need to know that something came."""
        data = self._connection.take(RECEIVE_BYTES)
        if not data:
            raise self._connection.lost()
        return data

    def set_timeout(self, seconds: float | None) -> None:
        self._connection.set_timeout(seconds)

    def close(self) -> None:
        """Discard the rest of the body and close the connection."""
        self._connection.close()

    def _counted(self, left: int) -> Iterator[bytes]:
        while left:
            data = self._connection.take(min(left, RECEIVE_BYTES))
            if not data:
                raise self._connection.lost()
            left -= len(data)
            yield data

    def _chunked(self) -> Iterator[bytes]:
        while size := int(self._connection.line().split(b";")[0], 16):
            yield from self._counted(size)
            self._connection.line()
        while self._connection.line():
            pass  # trailers


def _ssh_agent(path: str) -> str:
    """Tells the controller where the user's ssh-agent is now, for nodes over SSH."""
    return f"Tarmac-Ssh-Agent: {path}\r\n" if path.isascii() and path.isprintable() else ""


def _zone() -> str:
    """The time zone of the caller, for sentences that contain times; empty if unknown."""
    name = os.environ.get("TZ")
    if name is None:
        try:
            name = os.readlink("/etc/localtime").rpartition("zoneinfo/")[2]
        except OSError:
            return ""
    name = name.removeprefix(":")
    return name if name.isascii() and name.isprintable() and len(name) < 100 else ""


def _connect(connection: _socket.socket, path: str, on_silence: OnSilence | None) -> None:
    # If the backlog is full, connect waits. With `settimeout` it would fail at once.
    connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDTIMEO, _timeval(SILENCE_S))
    for tries in range(1, int(CONNECT_S / SILENCE_S) + 1):
        try:
            return _connect_once(connection, path)
        except BlockingIOError:
            if on_silence is not None:
                on_silence(0, tries * SILENCE_S)
    raise NoAnswer(0)


def _connect_once(connection: _socket.socket, path: str) -> None:
    try:
        if len(os.fsencode(path)) <= SUN_PATH_BYTES:
            connection.connect(path)
        else:
            from tarmac.shared.system.sockets import with_short_path  # loads `socket`, which most calls do not need

            with_short_path(path, connection.connect)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
        absent = NoController(f"no controller listens on {path}", "start one with `tarmac serve`")
        absent.was_stopped = isinstance(error, FileNotFoundError)
        raise absent from None
    except PermissionError:
        raise NotAllowed(
            f"you may not open {path}", "set TARMAC_HOME to a directory that you own, or leave it unset"
        ) from None
    except BlockingIOError:
        raise
    except OSError as error:
        raise Unavailable(f"{path} cannot be reached: {error.strerror}", "run `tarmac doctor`") from None


def _timeval(seconds: float) -> bytes:
    whole = int(seconds)
    return whole.to_bytes(8, byteorder) + int((seconds - whole) * 1e6).to_bytes(8, byteorder)
