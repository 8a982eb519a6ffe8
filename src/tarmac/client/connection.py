"""A client's link to a controller: JSON requests and streams, reused connections, and the start of the controller.

`jobs` and `admin` define the requests; `transport` sends them.
"""

from __future__ import annotations

import os

from tarmac import paths
from tarmac.client.fast.json_codec import decode, encode
from tarmac.client.transport import Connection, NoAnswer, NoController, Response
from tarmac.errors import ConnectionLost, TarmacError, Unavailable, from_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any, ParamSpec, Self, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")

BASE = "/api/v1"
START_TRIES = 3
ANSWER_S = 60  # the longest an ordinary request may take; a suspended controller would never answer
PATIENCE_S = 60  # how long to wait for a controller that is away
CRASHED_S = 1  # … before starting a new one, if the old one left its socket behind
STOPPED_S = 20  # … before starting a new one, if the old one was stopped, perhaps for an upgrade


class Link:
    """`home` is a TARMAC_HOME; `start=False` never starts a controller."""

    def __init__(self, home: str | os.PathLike[str] | None = None, *, start: bool = True) -> None:
        self.home = None if home is None else os.path.abspath(home)
        environ = os.environ if self.home is None else {**os.environ, "TARMAC_HOME": self.home}
        self.state = paths.state_folder(environ)
        self.start = start
        self.on_start: Callable[[], None] | None = None  # called before a controller is started
        self.on_trouble: Callable[[str], None] | None = None  # called with the reason while the controller cannot write
        self.answer_s: float = ANSWER_S
        self.was_reached = False  # a controller that was reached once is waited for when it goes away
        self._idle: list[Connection] = []
        self._pid = os.getpid()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the controller. The next call opens a new one."""
        while self._idle:
            self._idle.pop().close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        is_repeatable: bool = False,
        within_s: float | None = None,
    ) -> Any:
        """Send one request, JSON in and out. Repeats it once if the connection broke and a repetition is safe.

        `within_s`: how long to wait for an answer, if not the default.
        """
        data = None if body is None else encode(body).encode("ascii")
        try:
            response, text = self._read(method, path, query, data, within_s)
        except ConnectionLost:
            if method != "GET" and not is_repeatable:
                raise
            response, text = self._read(method, path, query, data, within_s)
        if response.status >= 400:
            raise _error(response.status, text)
        return decode(text) if text else {}

    def stream(
        self, path: str, query: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A GET whose body the caller reads, on a separate connection."""
        connection = self._connection()
        try:
            response = connection.request("GET", BASE + path + _query(query), None, headers, within_s=self.answer_s)
        except TimeoutError:
            connection.close()
            raise NoAnswer(connection.pid) from None
        response.set_timeout(None)  # a stream may be silent for as long as nothing happens
        self._heed(response)
        if response.status >= 400:
            raise _error(response.status, response.read().decode("utf-8", "replace"))
        return response

    def _read(
        self, method: str, path: str, query: Mapping[str, object] | None, data: bytes | None, within_s: float | None
    ) -> tuple[Response, str]:
        connection = self._connection()
        limit_s = self.answer_s if within_s is None else within_s
        try:
            response = connection.request(method, BASE + path + _query(query), data, within_s=limit_s)
            text = response.read().decode("utf-8")
        except TimeoutError:
            raise NoAnswer(connection.pid) from None
        finally:
            if connection.is_idle:
                self._idle.append(connection)
            else:
                connection.close()
        self._heed(response)
        return response, text

    def _heed(self, response: Response) -> None:
        if "tarmac-degraded" in response.fields and self.on_trouble is not None:
            self.on_trouble(response.fields["tarmac-degraded"])

    def _connection(self) -> Connection:
        if self._pid != os.getpid():
            self._pid, self._idle = os.getpid(), []  # after a fork, the connections belong to the parent
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()
        connection = self._new_connection()
        self.was_reached = True
        return connection

    def _new_connection(self) -> Connection:
        for _ in range(START_TRIES):
            try:
                return Connection(paths.socket_path(self.state))
            except NoController:
                if not self.start:
                    raise
            if self.on_start is not None:
                self.on_start()
            from tarmac.client.autostart import start_controller

            # The controller that reported ready may be an old one that is just ending.
            start_controller(self.state, self.home)
        return Connection(paths.socket_path(self.state))


def keep_asking(client: Link, ask: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Repeat the request while the controller is away, for as long as a restart may take.

    A controller that was reached before is not replaced at once: it may be restarting, or was stopped on purpose.
    """
    from time import monotonic, sleep

    may_start, lost_at = client.start, None
    client.start = may_start and not client.was_reached
    try:
        while True:
            try:
                return ask(*args, **options)
            except NoAnswer:
                raise  # already waited for it
            except Unavailable as error:
                now = monotonic()
                lost_at = now if lost_at is None else lost_at
                if not client.was_reached or now - lost_at > PATIENCE_S:
                    raise
                client.start = may_start and now - lost_at > _restart_after_s(error)
                sleep(0.05)
    finally:
        client.start = may_start


def _restart_after_s(error: Unavailable) -> float:
    return STOPPED_S if isinstance(error, NoController) and error.was_stopped else CRASHED_S


def _error(status: int, text: str) -> TarmacError:
    try:
        error = decode(text)["error"]
        return from_answer(status, error["code"], error["message"], error.get("hint"), error.get("key"))
    except (ValueError, KeyError, TypeError):
        return from_answer(status, "", f"the controller answered {status}", "see `tarmac log controller`")


def _query(parameters: Mapping[str, object] | None) -> str:
    pairs = [f"{name}={quoted(str(value))}" for name, value in (parameters or {}).items() if value is not None]
    return f"?{'&'.join(pairs)}" if pairs else ""


def quoted(text: str) -> str:
    """Percent-encoded, for a path or a query."""
    if text.isalnum() and text.isascii():
        return text
    safe = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,"
    return "".join(chr(byte) if byte in safe else f"%{byte:02X}" for byte in text.encode("utf-8", "replace"))
