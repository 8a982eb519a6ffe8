"""Measures durations: samples in seconds, and their statistics."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def samples(action: Callable[[], object], count: int, warm_up: int = 2) -> list[float]:
    for _ in range(warm_up):
        action()
    return [timed(action) for _ in range(count)]


def in_turns(count: int, *actions: Callable[[], object], warm_up: int = 2) -> list[list[float]]:
    """Sample several actions alternately, so that a slow phase of the machine affects all of them."""
    for _ in range(warm_up):
        for action in actions:
            action()
    rounds = [[timed(action) for action in actions] for _ in range(count)]
    return [list(column) for column in zip(*rounds, strict=True)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


def spawn(argv: Sequence[str], env: dict[str, str] | None = None) -> None:
    """posix_spawn and wait: the minimum cost of starting a program."""
    silence = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(argv[0], argv, env or dict(os.environ), file_actions=silence)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), list(argv))
