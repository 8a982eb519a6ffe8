"""The latency of `add` and `ls`, with an empty and a long queue."""

import sys
from collections.abc import Iterator

from bench.clock import in_turns, median, spawn, timed
from bench.figures import Figure, milliseconds
from bench.home import Home, home

ROUNDS = 40
LISTED = 2_000
ARRAY = 100_000


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        place.hold_all_gpus()
        add_s, python_s = add(place)
        yield Figure(
            what="tarmac add", measured=milliseconds(add_s), ratio=add_s / python_s, unit="P", must=2.5, aim=1.7
        )
        queue(place, LISTED)
        ls_s, python_s = beside_python(place, "ls")
        yield Figure(
            what=f"tarmac ls, {LISTED:,} queued",
            measured=milliseconds(ls_s),
            ratio=ls_s / python_s,
            unit="P",
            must=5,
            aim=3,
        )
        array_s = timed(lambda: queue(place, ARRAY))
        yield Figure(
            what=f"{ARRAY:,} jobs as one array", measured=f"{array_s:.1f} s", ratio=array_s, unit="s", must=10, aim=3
        )
        long_s, _ = add(place)
        yield Figure(
            what=f"tarmac add, {ARRAY:,} queued ÷ none",
            measured=milliseconds(long_s),
            ratio=long_s / add_s,
            unit="×",
            must=1.3,
            aim=1.0,
        )


def add(place: Home) -> tuple[float, float]:
    return beside_python(place, "add", "--", place.program)


def beside_python(place: Home, *words: str) -> tuple[float, float]:
    """Medians of the command and of `python -c pass`, sampled alternately."""
    command, python = in_turns(
        ROUNDS,
        lambda: spawn(place.cli(*words), place.env),
        lambda: spawn([sys.executable, "-c", "pass"], place.env),
    )
    return median(command), median(python)


def queue(place: Home, count: int) -> None:
    place.client.submit_many([{"command": [place.program]} for _ in range(count)])
