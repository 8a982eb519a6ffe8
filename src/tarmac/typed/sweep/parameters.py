"""The parameters of a sweep as typed: `lr=1e-3,3e-4`, `seed=1..5`, `drop=0..1..0.25`."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from tarmac.errors import UserError
from tarmac.typed.option import shown, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = ("id", "name")  # placeholders of output files
MOST_VALUES = 1_000_000
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class Parameter:
    """A name, and the values it takes in this order."""

    __slots__ = ("name", "values")

    def __init__(self, name: str, values: Sequence[str]) -> None:
        self.name = name
        self.values = values


def read_parameters(words: Iterable[str]) -> list[Parameter]:
    """Refuses a name that is given twice, and a value that one parameter has twice."""
    found: dict[str, Parameter] = {}
    for word in words:
        name, equals, values = word.partition("=")
        if not equals:
            raise UserError(
                f"sweep: {shown(word)} is not a parameter",
                "write NAME=VALUES, such as lr=1e-3,3e-4 or seed=1..5, and quote the whole command as one word",
            )
        check_name(name)
        if name in found:
            raise UserError(f"sweep: parameter {name} is given twice", f"give all values at once: {name}=1,2,3")
        try:
            found[name] = Parameter(name, values_of(text(values)))
        except ValueError as error:
            raise UserError(
                f"sweep: {shown(word)}: {error}", "examples: lr=1e-3,3e-4, seed=1..5, x=0..1..0.25"
            ) from None
        refuse_repeated(found[name])
    return list(found.values())


def check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise UserError(
            f"sweep: {shown(name)} cannot be the name of a parameter",
            "use letters, digits and underscores, and begin with a letter or an underscore",
        )
    if name in RESERVED:
        raise UserError(
            f"sweep: a parameter cannot be named {name}", f"choose another name: {{{name}}} stands for the job's {name}"
        )


def refuse_repeated(parameter: Parameter) -> None:
    seen = set()
    for value in parameter.values:
        if value in seen:
            raise UserError(f"sweep: {parameter.name} has the value {shown(value)} twice", "leave out one of them")
        seen.add(value)


def values_of(listed: str) -> list[str]:
    """`a,b`, `1..5`, and `"a,b",c` for a value with a comma. Raises ValueError."""
    found: list[str] = []
    for part, is_quoted in _parts(listed):
        span = None if is_quoted else _span(part)
        found += [part] if span is None else span
        if len(found) > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES:,} values")
    return found


def _parts(listed: str) -> list[tuple[str, bool]]:
    """The parts between commas, and whether each is quoted. Two quotes in a quoted part stand for one."""
    found, at = [], 0
    while True:
        if listed[at : at + 1] == '"':
            quoted = re.match(r'"((?:[^"]|"")*)"(?=,|$)', listed[at:])
            if quoted is None:
                raise ValueError('the quote " is not closed before a comma or the end; write "" for a quote in it')
            found.append((quoted.group(1).replace('""', '"'), True))
            at += quoted.end()
        else:
            end = listed.find(",", at)
            found.append((listed[at : end if end >= 0 else None], False))
            at = end if end >= 0 else len(listed)
        if at >= len(listed):
            return found
        at += 1


def _span(part: str) -> list[str] | None:
    """The numbers of `1..5` and `0..1..0.25`; None for other texts."""
    ends = part.split("..")
    if len(ends) < 2 or not all(_NUMBER.fullmatch(end) for end in ends[:2]):
        return None
    if len(ends) > 3:
        raise ValueError(f"{part} has more than a first number, a last number and a step")
    if len(ends) == 3 and not _NUMBER.fullmatch(ends[2]):
        raise ValueError(f"{shown(ends[2])} is not a step; quote {part} if it is a text: '\"{part}\"'")
    try:
        first, last = Decimal(ends[0]), Decimal(ends[1])
        step = Decimal(ends[2]) if len(ends) == 3 else Decimal(1)
    except InvalidOperation:
        raise ValueError(f"{part} is not a range of numbers") from None
    if len(ends) == 2 and not (first == first.to_integral_value() and last == last.to_integral_value()):
        raise ValueError(f"the range {part} needs a step: {part}..0.1")
    if not step:
        raise ValueError(f"the step of {part} must not be 0")
    if step < 0 < last - first:
        raise ValueError(f"the step {ends[2]} does not lead from {ends[0]} to {ends[1]}")
    step = abs(step)
    count = int(abs(last - first) / step) + 1
    if count > MOST_VALUES:
        raise ValueError(f"{part} has {count:,} values; the limit is {MOST_VALUES:,}")
    step = step if last >= first else -step
    width = max(map(len, ends[:2])) if any(re.fullmatch(r"0\d+", end) for end in ends[:2]) else 0
    return [_written(first + step * number).zfill(width) for number in range(count)]


def _written(number: Decimal) -> str:
    """Without an exponent and without zeros that say nothing: 0.5, 10."""
    plain = format(number, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
