"""A request that the server refuses, as data: what kind of refusal, a message key and its arguments.

Raised in the controller, the routes and below. `api/wording` turns it into a sentence in the language of the reader.
The client's exceptions, made from the API's answer, are in `tarmac.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind: TypeAlias = Literal["refused", "not_found", "not_allowed", "conflict", "too_new", "unavailable"]


class Refused(Exception):
    """`kind` is the `code` of the API's error body; `key` names a message of the catalogue, `values` fill it in."""

    def __init__(self, kind: Kind, key: str, values: dict[str, Any]) -> None:
        super().__init__(kind, key, values)
        self.kind = kind
        self.key = key
        self.values = values

    def __str__(self) -> str:
        return f"{self.key}({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"


class RefusedJobs(Refused):
    """Jobs of a submit that are refused, by their places in it. As a refusal, it is that of the first one."""

    def __init__(self, jobs: Mapping[int, Refused]) -> None:
        first = jobs[min(jobs)]
        super().__init__(first.kind, first.key, first.values)
        self.jobs = jobs


def invalid(key: str, /, **values: Any) -> Refused:
    """The request is wrong, or can never be met."""
    return Refused("refused", key, values)


def not_found(key: str, /, **values: Any) -> Refused:
    """The job, GPU, setting or reservation does not exist."""
    return Refused("not_found", key, values)


def not_allowed(key: str, /, **values: Any) -> Refused:
    """The caller lacks the permission."""
    return Refused("not_allowed", key, values)


def conflict(key: str, /, **values: Any) -> Refused:
    """The object is in a state in which this cannot be done."""
    return Refused("conflict", key, values)


def too_new(key: str, /, **values: Any) -> Refused:
    """The caller speaks a newer API than this controller."""
    return Refused("too_new", key, values)


def unavailable(key: str, /, **values: Any) -> Refused:
    """Not possible at the moment; worth a retry."""
    return Refused("unavailable", key, values)


def wrapped(key: str, /, *, problem: Refused, **values: Any) -> Refused:
    """The same refusal, with a message that also says what it is about."""
    return Refused(problem.kind, key, {"problem": problem, **values})
