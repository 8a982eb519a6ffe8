"""The errors of a client, for the Python API and the command line. Most are made from the error body of the HTTP API.

A message says what happened and to which object; the hint says what to do next. The server raises `tarmac.refusal`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class RefusedJob(TypedDict):
        """`index`: its place in the submit, from 0."""

        index: int
        key: str
        message: str
        hint: str | None


class TarmacError(Exception):
    """Base of all errors. `code` and `key` come from the API's error body; the command line exits with `exit_code`."""

    code = "internal"
    status = 500
    exit_code = 5

    def __init__(self, message: str, hint: str | None = None, key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.jobs: list[RefusedJob] = []  # of a submit with several jobs, those that were refused
        self.key = key  # names the message and does not change; None if the error did not come from the API

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UserError(TarmacError):
    """The request is wrong, or can never be met."""

    code = "refused"
    status = 400
    exit_code = 2


class NotFound(TarmacError):
    """The job, GPU, setting or reservation does not exist."""

    code = "not_found"
    status = 404
    exit_code = 3


class NotAllowed(TarmacError):
    """The caller lacks the permission, for example because the job belongs to another user."""

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
    """No controller is reachable, or it cannot serve the request at the moment. Worth a retry."""

    code = "unavailable"
    status = 503
    exit_code = 5


class ConnectionLost(Unavailable):
    """The connection broke during a request. It is unknown whether the request was carried out."""


class OutcomeUnknown(ConnectionLost):
    """A request that changes something was sent and repeated, but never answered: it may have been carried out."""


_KINDS: tuple[type[TarmacError], ...] = (UserError, NotFound, NotAllowed, Conflict, TooNew, Unavailable)
_BY_CODE = {kind.code: kind for kind in _KINDS}
_BY_STATUS = {kind.status: kind for kind in _KINDS}


def from_answer(status: int, code: str, message: str, hint: str | None, key: str | None = None) -> TarmacError:
    """The exception for an error body: by its code, or by the HTTP status if the code is unknown."""
    fallback = UserError if 400 <= status < 500 else TarmacError
    kind = TooNew if status == TooNew.status else _BY_CODE.get(code) or _BY_STATUS.get(status) or fallback
    return kind(message, hint, key)
