"""A client's link to a controller: JSON requests and streams, reused connections, and the start of the controller.

`jobs` and `admin` define the requests; `transport` sends them.
"""

from __future__ import annotations

import os

from tarmac import paths
from tarmac.client.fast.json_codec import decode, encode
from tarmac.client.transport import Connection, NoAnswer, NoController, Response
from tarmac.errors import ConnectionLost, OutcomeUnknown, TarmacError, Unavailable, from_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any, Self, TypeAlias

    from tarmac.client.remote.remote import Remote

    Request: TypeAlias = tuple[str, str, bytes | None, Mapping[str, str] | None]

BASE = "/api/v1"
START_TRIES = 3  # of a controller that ends with a message; one that was killed is started again
ANSWER_S = 60  # the longest an ordinary request may take; a stopped controller would never answer
# Keys of refusals that come before a request is looked at, because there are too many of them.
TURNED_AWAY = frozenset({"server.too_many_connections", "server.crowded", "server.too_many_bodies"})
MANY = 1000  # jobs
MANY_S = 900  # for a request about very many jobs
PATIENCE_S = 60  # how long to wait for a controller that is away, or turns requests away
PAUSE_S = 0.05  # between two tries
CHECK_STREAM_S = 30  # how often a silent stream is checked


def header_text(value: str) -> str:
    """The text of a header, which is percent-encoded unless it is printable ASCII."""
    if "%" not in value:
        return value
    from urllib.parse import unquote

    return unquote(value)


class Link:
    """`home` is a TARMAC_HOME; `start=False` never starts a controller.

    `host` is another machine, such as "ssh://gpu01". By default it is TARMAC_HOST; "" is this machine.
    """

    def __init__(
        self, home: str | os.PathLike[str] | None = None, *, start: bool = True, host: str | None = None
    ) -> None:
        self.home = None if home is None else os.path.abspath(home)
        environ = os.environ if self.home is None else {**os.environ, "TARMAC_HOME": self.home}
        if host is None and home is None:
            host = os.environ.get("TARMAC_HOST")
        self.remote = _remote(host) if host else None  # the other machine
        self.state = paths.wanted_state_folder(environ) if host else paths.state_folder(environ)
        self.start = start
        self.on_start: Callable[[], None] | None = None  # called before a controller is started
        self.on_silence: Callable[[int, float], None] | None = None  # called while the controller (pid) does not answer
        self.on_trouble: Callable[[str], None] | None = None  # called with the reason while the controller cannot write
        self.on_stale: Callable[[str], None] | None = None  # called with the reason while an agent does not answer
        self.answer_s: float = ANSWER_S
        self.patience_s: float = PATIENCE_S
        self.was_reached = False  # a controller that was reached once is waited for when it goes away
        self.is_unsure = False  # a request that changes something was sent, and its answer has not arrived
        self.is_large = False  # the request that was sent last may be about very many jobs
        self.repeats = True  # False: the caller repeats requests
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
        if self.remote is not None:
            self.remote.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        data: bytes | None = None,
        has_token: bool = False,
        within_s: float | None = None,
        waits_s: float = 0,
        is_raw: bool = False,
    ) -> Any:
        """Send one request, JSON in and out. Repeats it until it is answered if the connection breaks.

        Bytes are sent as `data` instead of a body, and returned with `is_raw`.

        A request that changes something has a key, by which the controller recognizes a repetition, or a token in its
        body. `within_s`: how long to wait for an answer, if not the default. `waits_s`: how long the
        controller may be silent because it waits for something.
        """
        key = {} if method == "GET" or has_token else {"Idempotency-Key": os.urandom(16).hex()}
        if data is not None:
            key["Content-Type"] = "application/octet-stream"
        elif body is not None:
            data = encode(body).encode("ascii")
        request = (method, BASE + path + _query(query), data, key)
        try:
            try:
                response, answer = self._read(request, within_s, waits_s)
            except Unavailable as error:
                if not self.repeats or not (isinstance(error, ConnectionLost) or error.key in TURNED_AWAY):
                    raise
                response, answer = self._repeated(request, within_s, waits_s, error)
        except KeyboardInterrupt as interrupt:
            if self.is_unsure:
                interrupt.add_note("it is unknown whether the request was carried out")
            raise
        finally:
            self.is_unsure = False
        if response.status >= 400:
            raise _error(response.status, answer.decode("utf-8", "replace"))
        if is_raw:
            return answer
        return decode(answer.decode("utf-8")) if answer else {}

    def change(self, path: str, body: dict[str, Any]) -> Any:
        """Change the jobs that the body selects. Those of a filter may be a million, which takes its time."""
        filters = {"group", "name", "tag", "state", "owner", "failed"}
        ids = body["ids"]
        is_plain = len(ids) < MANY and all(word.isdecimal() for word in ids) and filters.isdisjoint(body)
        return self.call("POST", path, body=body, within_s=None if is_plain else MANY_S)

    def stream(
        self, path: str, query: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """A GET whose body the caller reads, on a separate connection."""
        connection = self._connection()
        connection.on_silence = self._tell_silence
        try:
            response = connection.request("GET", BASE + path + _query(query), None, headers, within_s=self.answer_s)
        except TimeoutError:
            connection.close()
            raise connection.no_answer() from None
        connection.on_silence = self._check_stream
        response.set_timeout(None)  # a stream may be silent for as long as nothing happens
        self._heed(response)
        if response.status >= 400:
            raise _error(response.status, response.read().decode("utf-8", "replace"))
        return response

    def _repeated(
        self, request: Request, within_s: float | None, waits_s: float, error: TarmacError
    ) -> tuple[Response, bytes]:
        """The answer to a request whose connection broke, or that was turned away. Starts a controller that is gone."""
        from tarmac.client.controller_process.patience import Patience

        patience, is_unsure = Patience(self), isinstance(error, ConnectionLost)
        if not is_unsure:
            patience.pause(error)
        while True:
            try:
                return self._read(request, within_s, waits_s)
            except NoAnswer:
                raise  # it says whether the request may still be carried out
            except TarmacError as again:  # gone again, or killed before it was ready, or it cannot be started
                error, is_unsure = again, is_unsure or isinstance(again, ConnectionLost)
            self.is_unsure = is_unsure and request[0] != "GET"
            if not isinstance(error, Unavailable) or patience.is_over:
                raise _unknown(error) if self.is_unsure else error
            patience.pause(error)

    def _read(self, request: Request, within_s: float | None, waits_s: float = 0) -> tuple[Response, bytes]:
        connection = self._connection()
        connection.on_silence = self._tell_silence if not waits_s else self._silence_after(waits_s)
        limit_s = self.answer_s if within_s is None else within_s
        self.is_unsure, self.is_large = request[0] != "GET", limit_s == MANY_S
        try:
            response = connection.request(*request, within_s=limit_s)
            answer = response.read()
        except TimeoutError:
            raise connection.no_answer() from None
        finally:
            if connection.is_idle:
                self._idle.append(connection)
            else:
                connection.close()
        self._heed(response)
        if response.status == Unavailable.status:
            error = _error(response.status, answer.decode("utf-8", "replace"))
            if error.key in TURNED_AWAY:
                self.is_unsure = False  # it was not looked at
                raise error
        return response, answer

    def _tell_silence(self, pid: int, silent_s: float) -> None:
        """A stopped controller is given up after the usual time, also where a request may take longer."""
        if self.on_silence is not None:
            self.on_silence(pid, silent_s)
        if silent_s >= self.answer_s:
            from tarmac.client.controller_process.liveness import is_stopped

            if is_stopped(pid):
                raise TimeoutError

    def _silence_after(self, waits_s: float) -> Callable[[int, float], None]:
        """For a request that waits: silence means nothing before that, unless the controller is stopped."""

        def on_silence(pid: int, silent_s: float) -> None:
            from tarmac.client.controller_process.liveness import is_stopped

            if silent_s > waits_s:
                self._tell_silence(pid, silent_s - waits_s)
            elif is_stopped(pid):
                self._tell_silence(pid, silent_s)

        return on_silence

    def _check_stream(self, pid: int, silent_s: float) -> None:
        """A stream is silent while nothing happens, so ask in another way now and then."""
        from tarmac.client.controller_process.liveness import is_stopped

        if is_stopped(pid) or silent_s % CHECK_STREAM_S == 0:
            try:
                self._read(("GET", f"{BASE}/queue", None, None), None)
            except NoAnswer:
                raise
            except Unavailable:
                pass  # it is gone, and the stream will end

    def _heed(self, response: Response) -> None:
        if "tarmac-degraded" in response.fields and self.on_trouble is not None:
            self.on_trouble(header_text(response.fields["tarmac-degraded"]))
        if "tarmac-stale" in response.fields and self.on_stale is not None:
            self.on_stale(header_text(response.fields["tarmac-stale"]))

    def _connection(self) -> Connection:
        if self._pid != os.getpid():
            self._pid, self._idle = os.getpid(), []  # after a fork, the connections belong to the parent
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open():
                return connection
            connection.close()
        connection = self.new_connection()
        self.was_reached = True
        return connection

    def new_connection(self) -> Connection:
        """Starts a controller if none listens, again if it is gone before it can be asked."""
        if self.remote is not None:
            return self.remote.connect(self._tell_silence, start=self.start)
        crashes, began_at = 0, 0.0
        while True:
            try:
                return Connection(paths.socket_path(self.state), self._tell_silence)
            except NoController:
                from time import monotonic, sleep

                if not self.start or (began_at and monotonic() > began_at + self.patience_s):
                    raise
            from tarmac.client.controller_process.autostart import EndedEarly, start_controller

            began_at = began_at or monotonic()
            if self.on_start is not None:
                self.on_start()
            # The controller that reported ready may be an old one that is just ending.
            try:
                start_controller(self.state, self.home, self.on_silence)
            except EndedEarly as error:
                crashes += error.has_words
                if crashes >= START_TRIES or monotonic() > began_at + self.patience_s:
                    raise
                sleep(PAUSE_S)


def _remote(host: str) -> Remote:
    from tarmac.client.remote.remote import Remote

    return Remote(host)


def _unknown(error: TarmacError) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"it is unknown whether the request was carried out: {error.message}",
        "run `tarmac ls` to check before you repeat it",
    )


def _error(status: int, text: str) -> TarmacError:
    try:
        error = decode(text)["error"]
        raised = from_answer(status, error["code"], error["message"], error.get("hint"), error.get("key"))
        raised.jobs = error.get("jobs", [])
        return raised
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
