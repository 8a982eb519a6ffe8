"""The logs of jobs in a state directory, named JOB.ATTEMPT.log: which there are, how large they are, their removal."""

from __future__ import annotations

import os
from typing import Collection, Iterator, List, Tuple

LOGS = "logs"
_LONGEST_NUMBER = 18  # digits


def logged_jobs(state: str) -> List[int]:
    """The jobs that have logs there."""
    return sorted({number for _, number in _logs(state)})


def log_bytes(state: str, jobs: Collection[int]) -> int:
    """What the logs of these jobs take on disk."""
    total = 0
    for entry, number in _logs(state):
        if number in jobs:
            try:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def delete_logs_of(state: str, jobs: Collection[int]) -> None:
    """Every log of these jobs, whatever the number of attempts."""
    for entry, number in _logs(state):
        if number in jobs:
            try:
                os.unlink(entry.path)
            except FileNotFoundError:
                pass


def _logs(state: str) -> Iterator[Tuple[os.DirEntry[str], int]]:
    try:
        with os.scandir(os.path.join(state, LOGS)) as entries:
            for entry in entries:
                number = entry.name.partition(".")[0]
                if number.isdecimal() and number.isascii() and len(number) <= _LONGEST_NUMBER:
                    yield entry, int(number)
    except FileNotFoundError:
        return
