"""`python -m bench`: measures the floors of this machine, then Tarmac, and prints the ratios."""

import json
import os
import shutil
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from dataclasses import asdict

from bench import (
    floors,
    idling,
    listening,
    notifying,
    passing,
    retrying,
    sampling,
    simulating,
    starting,
    submitting,
    watching,
)
from bench.figures import Figure, milliseconds, table
from bench.home import compile_program
from bench.many import frozen, groups, million
from bench.nodes import many, one_host
from bench.page import loading, long_queue, open_pages, rates
from bench.scheduling import rows as scheduling

# What can be measured on its own, besides the rows about schedules. Each is given the program that jobs run.
PARTS = {
    "notifications": notifying.figures,
    "retries": retrying.figures,
    "logs": watching.figures,
    "sweep": groups.sweep,
    "batch": groups.batch,
    "listing": groups.listing,
    "snapshot": frozen.figures,
    "million": million.figures,
    "many-nodes": many.figures,
    "ssh": one_host.figures,
    "api": rates.figures,
    "page": loading.figures,
    "pages": open_pages.figures,
    "long-queue": long_queue.figures,
}
NAMES = (*scheduling.ROWS, *PARTS)


def main() -> int:
    asked = arguments()
    warn_of_load()
    figures = [printed(figure) for figure in measured(asked)]
    if asked.json:
        print(json.dumps([asdict(figure) | {"verdict": figure.verdict} for figure in figures]))
    else:
        print("\n".join(table(figures)))
    return int(any(figure.verdict == "MISS" for figure in figures))


def arguments() -> Namespace:
    parser = ArgumentParser(prog="python -m bench", description="Measure Tarmac, as ratios to this machine's limits.")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="measure only schedules, on jobs from a CSV file (submit_s, owner, gpus, duration_s, factor)",
    )
    parser.add_argument(
        "--only",
        metavar="ROWS",
        type=row_names,
        help=f"measure only these rows: {','.join(NAMES)}",
    )
    return parser.parse_args()


def row_names(words: str) -> list[str]:
    names = words.split(",")
    if unknown := [name for name in names if name not in NAMES]:
        raise ArgumentTypeError(f"unknown: {', '.join(unknown)}; the rows are {', '.join(NAMES)}")
    return names


def measured(asked: Namespace) -> Iterator[Figure]:
    if asked.trace is None and asked.only is None:
        yield from of_this_machine()
        yield from simulating.figures()
    for name in (name for name in PARTS if name in (asked.only or ())):
        yield from of_part(name)
    rows = None if asked.only is None else [name for name in asked.only if name in scheduling.ROWS]
    if rows is None or rows:
        yield from scheduling.figures(asked.trace, rows)


def of_part(name: str) -> Iterator[Figure]:
    folder = tempfile.mkdtemp(prefix="tarmac-bench-")
    try:
        yield from PARTS[name](compile_program(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def of_this_machine() -> Iterator[Figure]:
    folder = tempfile.mkdtemp(prefix="tarmac-bench-")
    try:
        program = compile_program(folder)
        before = floors.measure(folder, program)
        starts = starting.measure(program)
        found = floors.least(before, floors.measure(folder, program))
        say("floors here: " + "  ".join(f"{name[0].upper()} {milliseconds(t)}" for name, t in asdict(found).items()))
        yield from starting.figures(starts, found)
        yield from submitting.figures(program)
        yield from listening.figures(program)
        yield from idling.figures(program)
        yield from sampling.figures()
        yield from passing.figures()
        for part in PARTS.values():
            yield from part(program)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def warn_of_load() -> None:
    load = os.getloadavg()[0]
    if load > 1:
        say(f"note: the machine is busy (load {load:.1f}); measured times are unreliable")


def printed(figure: Figure) -> Figure:
    say(f"  {figure.what.strip()}: {figure.measured}")
    return figure


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
