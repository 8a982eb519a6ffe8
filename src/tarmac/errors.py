"""Every way a request can go wrong, for the Python API, the command line and the HTTP API alike.

A message says what happened and to which object; the hint says what to do next.
"""

from __future__ import annotations


class TarmacError(Exception):
    """Base of all of them. `code` stands in the API's error body, `exit_code` is what the command line ends with."""

    code = "internal"
    status = 500
    exit_code = 5

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UserError(TarmacError):
    """The request is wrong, or can never be met."""

    code = "refused"
    status = 400
    exit_code = 2


class NotFound(TarmacError):
    """The job, or whatever else was named, does not exist."""

    code = "not_found"
    status = 404
    exit_code = 3


class NotAllowed(TarmacError):
    """It exists and belongs to somebody else, or asks for rights the caller lacks."""

    code = "not_allowed"
    status = 403
    exit_code = 4


class Conflict(TarmacError):
    """The object is in a state in which this cannot be done."""

    code = "conflict"
    status = 409
    exit_code = 2


class TooNew(TarmacError):
    """The caller speaks a newer API than the controller."""

    code = "too_new"
    status = 426
    exit_code = 2


class Unavailable(TarmacError):
    """Not now: no controller in reach, or it cannot serve at the moment. Worth a retry."""

    code = "unavailable"
    status = 503
    exit_code = 5


class ConnectionLost(Unavailable):
    """The controller went away in the middle of a request; whether it was carried out is not known."""


_KINDS: tuple[type[TarmacError], ...] = (UserError, NotFound, NotAllowed, Conflict, TooNew, Unavailable)
_BY_CODE = {kind.code: kind for kind in _KINDS}
_BY_STATUS = {kind.status: kind for kind in _KINDS}


def from_answer(status: int, code: str, message: str, hint: str | None) -> TarmacError:
    """The exception for an error body, by its code, else by the HTTP status."""
    fallback = UserError if 400 <= status < 500 else TarmacError
    kind = TooNew if status == TooNew.status else _BY_CODE.get(code) or _BY_STATUS.get(status) or fallback
    return kind(message, hint)
