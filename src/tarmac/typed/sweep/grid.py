"""The rows of a sweep: every combination of its values, or those that were asked for."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tarmac.errors import UserError
from tarmac.typed.sweep.parameters import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Row = dict[str, str]

MOST_JOBS = 1_000_000
MOST_TRIED = 20_000_000


class Grid:
    """All combinations, by number. Nothing is made before it is asked for: a sample may be taken of billions."""

    def __init__(
        self, parameters: Sequence[Parameter], rows: Sequence[Row] = ({},), *, is_zipped: bool = False
    ) -> None:
        """`rows` of a file are combined with those of the parameters; `is_zipped`: the first of each form a row, …"""
        if is_zipped:
            _refuse_uneven(parameters)
        if is_zipped and rows[0] and parameters:
            rows = _zipped(rows, parameters)
            parameters = ()
        self._rows = rows
        self._parameters = parameters
        self._is_zipped = is_zipped
        lengths = [len(parameter.values) for parameter in parameters]
        self._of_parameters = (min(lengths) if lengths else 1) if is_zipped else prod(lengths)
        self.count = len(rows) * self._of_parameters

    def row(self, number: int) -> Row:
        """The last parameter changes fastest."""
        first, number = divmod(number, self._of_parameters)
        found = dict(self._rows[first])
        if self._is_zipped:
            return found | {one.name: one.values[number] for one in self._parameters}
        chosen = {}
        for parameter in reversed(self._parameters):
            number, place = divmod(number, len(parameter.values))
            chosen[parameter.name] = parameter.values[place]
        return found | {parameter.name: chosen[parameter.name] for parameter in self._parameters}

    def __iter__(self) -> Iterator[Row]:
        return map(self.row, range(self.count))


class Limits(NamedTuple):
    """`tried`: combinations that a condition is tried on."""

    jobs: int = MOST_JOBS
    tried: int = MOST_TRIED


USUAL = Limits()


def selected(
    grid: Grid,
    condition: Callable[[Mapping[str, str]], bool] | None,
    sample: int | None,
    seed: int | str,
    limits: Limits = USUAL,
) -> list[Row]:
    """The rows that meet the condition, or `sample` of them. The same seed selects the same rows, in their order."""
    if condition is None:
        numbers: Sequence[int] = range(grid.count)
    elif grid.count > limits.tried:
        raise UserError(
            f"sweep: --where would be tried on {grid.count:,} combinations; the limit is {limits.tried:,}",
            "give fewer values",
        )
    else:
        numbers = [number for number, row in enumerate(grid) if condition(row)]
        if not numbers:
            raise UserError(f"sweep: --where excludes all {grid.count:,} combinations", "loosen the condition")
    if sample is not None and sample < len(numbers):
        from random import Random

        numbers = sorted(Random(seed).sample(numbers, sample))
    if len(numbers) > limits.jobs:
        raise UserError(
            f"sweep: this makes {len(numbers):,} jobs; the limit is {limits.jobs:,}",
            "give fewer values, or use --sample N",
        )
    return [grid.row(number) for number in numbers]


def _zipped(rows: Sequence[Row], parameters: Sequence[Parameter]) -> list[Row]:
    first = parameters[0]
    if len(first.values) != len(rows):
        raise UserError(
            f"sweep: --zip needs a value for each row, but the file has {len(rows):,} rows "
            f"and {first.name} has {len(first.values):,} values",
            "give as many values as rows, or leave out --zip",
        )
    return [row | {one.name: one.values[number] for one in parameters} for number, row in enumerate(rows)]


def _refuse_uneven(parameters: Sequence[Parameter]) -> None:
    for other in parameters[1:]:
        first = parameters[0]
        if len(other.values) != len(first.values):
            raise UserError(
                f"sweep: --zip needs lists of one length, but {first.name} has {len(first.values)} values "
                f"and {other.name} has {len(other.values)}",
                "give as many values for each parameter, or leave out --zip",
            )
