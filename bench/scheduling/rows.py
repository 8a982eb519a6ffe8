"""The rows of figures about schedules, by name."""

from collections.abc import Callable, Iterable, Iterator

from bench.figures import Figure
from bench.scheduling import distinct_requests, overload, trickle, waits, wide_owner
from bench.scheduling.grid import Grid
from bench.scheduling.workload import read_jobs, synthetic_jobs

ROWS: dict[str, Callable[[Grid], Iterator[Figure]]] = {
    "limits": waits.no_limits,
    "fifo": waits.against_fifo,
    "easy": waits.against_easy,
    "max-min": waits.against_max_min,
    "sjf": waits.against_shortest_first,
    "wide": lambda _: wide_owner.figures(),
    "overload": lambda _: overload.figures(),
    "requests": lambda _: distinct_requests.figures(),
    "trickle": lambda _: trickle.figures(),
}


def figures(path: str | None, rows: Iterable[str] | None) -> Iterator[Figure]:
    """The named rows, or all of them; on the jobs of a file, or on generated ones."""
    grid = Grid(synthetic_jobs() if path is None else read_jobs(path))
    for row in rows or ROWS:
        yield from ROWS[row](grid)
