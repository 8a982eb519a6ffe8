"""A controller on another machine, as a client sees it: connections to it, and the account there."""

from __future__ import annotations

import json

from tarmac import __version__
from tarmac.client.remote.address import read_address
from tarmac.client.remote.login import Logins
from tarmac.client.transport import Connection, NoAnswer, NoController
from tarmac.errors import ConnectionLost, Unavailable, from_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tarmac.client.transport import OnSilence

READY_WITHIN_S = 150  # the start of a controller included


class Remote:
    """`on_note` is called with a remark, such as that the versions differ."""

    def __init__(self, host: str) -> None:
        self.address = read_address(host)
        self.on_note: Callable[[str], None] | None = None
        self._logins = Logins(self.address)

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def about(self) -> dict[str, Any]:
        """`home`, `umask` and `environment` of the account there. Logs in if that has not been done yet."""
        about = self._logins.current().about
        if about["version"] != __version__ and self.on_note is not None:
            self.on_note(f"{self.name} has tarmac {about['version']}, this machine {__version__}")
            self.on_note = None
        return about

    def connect(self, on_silence: OnSilence | None, *, start: bool) -> Connection:
        login = self._logins.current(on_silence)
        assert self.about
        return _Channel(self.name, login.open(start=start), on_silence)

    def end(self) -> None:
        """End ssh, without waiting for it. Safe in a signal handler."""
        self._logins.end()

    def close(self) -> None:
        self._logins.close()


class _Channel(Connection):
    """A connection through `ssh`. The first line says whether the controller was reached."""

    __slots__ = ("_where",)
    is_local = False

    def __init__(self, where: str, channel: Any, on_silence: OnSilence | None) -> None:
        self.path = f"ssh://{where}"
        self._where = where
        self.is_idle = True
        self.pid = 0
        self.on_silence = on_silence
        self._buffer = bytearray()
        self._socket = channel
        self.set_timeout(READY_WITHIN_S)
        try:
            first = self.line()
        except TimeoutError:
            self.close()
            raise self.no_answer() from None
        if first != b"ok":
            self.close()
            _raise(json.loads(first))

    def lost(self, error: OSError | None = None) -> ConnectionLost:  # noqa: ARG002 - ssh says why
        return ConnectionLost(f"the connection to {self._where} broke during a request", "try again when it is back")

    def no_answer(self) -> NoAnswer:
        return _NoAnswer(self._where)


class _NoAnswer(NoAnswer):
    """Nothing came through ssh for a long time."""

    def __init__(self, where: str) -> None:
        Unavailable.__init__(
            self,
            f"the controller on {where} does not answer; the request may still be carried out",
            "check the connection, and run `tarmac status` or `tarmac ls` later",
        )


def _raise(error: dict[str, Any]) -> None:
    if error["is_absent"]:
        absent = NoController(error["message"], error["hint"])
        absent.was_stopped = error["was_stopped"]
        raise absent
    raise from_answer(503, error["code"], error["message"], error["hint"], error["key"])
