"""Snapshots of a work tree of ten thousand files: the first one, and one of an unchanged tree."""

import os
import subprocess
import tempfile
from collections.abc import Iterator

from bench.clock import median, samples, spawn, timed
from bench.figures import Figure, milliseconds
from bench.home import Home, home

FILES, PER_DIRECTORY = 10_000, 100
ROUNDS = 10


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place, tempfile.TemporaryDirectory(prefix="tarmac-bench-") as tree:
        make_tree(tree)
        first_s = timed(lambda: add(place, tree, "--snapshot")) - timed(lambda: add(place, tree))
        yield Figure(
            what=f"first snapshot of {FILES:,} files",
            measured=f"{first_s:.2f} s",
            ratio=first_s,
            unit="s",
            must=3,
            aim=1.5,
        )
        plain_s = median(samples(lambda: add(place, tree), ROUNDS))
        again_s = median(samples(lambda: add(place, tree, "--snapshot"), ROUNDS)) - plain_s
        yield Figure(
            what=f"snapshot of {FILES:,} unchanged files",
            measured=milliseconds(again_s),
            ratio=again_s * 1000,
            unit="ms",
            must=100,
            aim=70,
        )


def add(place: Home, tree: str, *more: str) -> None:
    spawn(place.cli("add", "--hold", "--cwd", tree, *more, "--", place.program), place.env)


def make_tree(tree: str) -> None:
    """A repository with all files committed."""
    for number in range(FILES):
        directory = os.path.join(tree, f"package{number // PER_DIRECTORY}")
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, f"module{number}.py"), "w", encoding="utf-8") as file:
            file.write(f"NUMBER = {number}\n" * 40)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "all"]):
        subprocess.run(["git", "-C", tree, *words], check=True)
