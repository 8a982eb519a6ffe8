"""The options of a job, for one verb: those of shared/job_options.py, with the functions that read them."""

from __future__ import annotations

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed import values as readers
from tarmac.typed.option import NONE, Option, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tarmac.shared.job_options import JobOption

    Reader = Callable[[str], object]


def options_of(verb: str, local: Mapping[str, Reader] | None = None) -> list[Option]:
    """`local`: readers for the machine of the user. Without them, options that need its files are left out."""
    return [
        _option(option, verb, local or {})
        for option in JOB_OPTIONS
        if verb in option.verbs and (local is not None or not option.is_local)
    ]


def _option(option: JobOption, verb: str, local: Mapping[str, Reader]) -> Option:
    read: Reader | None = None
    if option.read:
        read = local.get(option.read) or getattr(readers, option.read)
    words = option.help
    if verb == "edit" and option.can_clear and read is not None:
        words, read = f"{words}; `none` clears it", _or_none(read)
    elif verb != "edit" and option.can_default and option.metavar:
        read = _or_none(read or text)
    return Option(
        option.flag, option.short or None, words, option.metavar or None, read,
        has_many=option.is_many, is_secret=option.is_secret, can_negate=option.can_default and not option.metavar,
    )  # fmt: skip


def _or_none(read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda word: NONE if word == NONE else read(word)
