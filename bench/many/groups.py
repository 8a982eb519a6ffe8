"""Sweeps and batches of ten thousand jobs, and listings of a group of fifty thousand."""

import os
from collections.abc import Iterator

from bench.clock import median, samples, spawn, timed
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.submitting import beside_python

JOBS = 10_000
LISTED = 50_000
ROUNDS = 5


def sweep(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        command = place.cli("sweep", "--hold", f"{program} --lr {{lr}} --seed {{seed}}", "lr=1..100", "seed=1..100")
        sweep_s = median(samples(lambda: spawn(command, place.env), ROUNDS, warm_up=0))
        yield _seconds(f"tarmac sweep, {JOBS:,} jobs", sweep_s, must=2, aim=1)


def batch(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        path = os.path.join(place.folder, "commands")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{program} --seed {number}\n" for number in range(JOBS))
        command = place.cli("add", "--hold", "--batch", path)
        batch_s = median(samples(lambda: spawn(command, place.env), ROUNDS, warm_up=0))
        yield _seconds(f"tarmac add --batch, {JOBS:,} lines", batch_s, must=2, aim=1)


def listing(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        spawn(place.cli("add", "--hold", "--array", f"0-{LISTED - 1}", "--", program), place.env)
        ls_s, python_s = beside_python(place, "ls")
        yield Figure(
            what=f"tarmac ls, {LISTED:,} jobs in one group",
            measured=milliseconds(ls_s),
            ratio=ls_s / python_s,
            unit="P",
            must=2.5,
            aim=2,
        )
        yield _seconds(f"tarmac ls --json, {LISTED:,} jobs", _listed_s(place), must=3, aim=2)


def _listed_s(place: Home) -> float:
    return timed(lambda: spawn(place.cli("ls", "--json"), place.env))


def _seconds(what: str, seconds: float, *, must: float, aim: float) -> Figure:
    return Figure(what=what, measured=f"{seconds:.2f} s", ratio=seconds, unit="s", must=must, aim=aim)
