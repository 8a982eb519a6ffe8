"""A form as it was filled in, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from tarmac.shared.job_options import JOB_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tarmac.typed.batch.jobs import BatchJob
    from tarmac.typed.requests import Body, Entry, GroupBody

Kind: TypeAlias = Literal["job", "sweep", "batch"]
FieldValue: TypeAlias = str | list[str] | bool  # a list for an option that may be repeated, true for a switch


class Form(NamedTuple):
    """`options`: by the name of the flag, without its hyphens in front, as typed after the flag."""

    kind: Kind = "job"
    command: str = ""
    shell: bool | None = None  # None: by a shell if it needs one
    options: Mapping[str, FieldValue] = {}
    group: str | None = None
    parameters: Sequence[str] = ()  # of a sweep: lr=1e-3,3e-4
    zip: bool = False
    where: str | None = None
    sample: str | None = None
    seed: str | None = None
    batch: str = ""
    format: str | None = None


class FieldMistake(NamedTuple):
    """`field`: a flag without its hyphens in front, or another part of the form. Line and column count from 1."""

    field: str | None
    message: str
    hint: str | None = None
    line: int | None = None
    column: int | None = None


class Reading(NamedTuple):
    """The jobs of a form. With mistakes, some or all may be missing."""

    jobs: list[Body]
    group: GroupBody | None
    entry: Entry
    mistakes: list[FieldMistake]
    batch: Sequence[BatchJob] = ()  # where the jobs of a batch are in its text

    def blame(self, index: int, names: Sequence[str], message: str, hint: str | None) -> FieldMistake:
        """What the controller says about one of the jobs. `names`: of the options that it may be about."""
        if self.batch:
            line, column = self.batch[index].place_of(*names)
            return FieldMistake("batch", message, hint, line, column)
        given = [name for name in names if self.jobs[index].get(_WIRES[name])]
        return FieldMistake(next(iter(given or names), None), message, hint)


_WIRES: dict[str, Any] = {option.name: option.wire for option in JOB_OPTIONS} | {"command": "command"}
