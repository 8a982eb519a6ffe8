"""kill -9 during commits: acknowledged commits are on disk, and every commit is complete."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from tarmac.core.invariants import invariants
from tarmac.store.store import Store
from tests.store.kept import faults, opened

ROUNDS = 8


def kill_a_committer(path: Path, after: int) -> list[int]:
    """The first ids of the submits that were acknowledged before the kill."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.committer", str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    acknowledged = []
    for line in process.stdout:
        acknowledged.append(line)
        if len(acknowledged) >= after:
            break
    process.kill()
    rest = process.stdout.read()
    process.stdout.close()
    process.wait()
    # Lines printed between the last read and the kill count too, except an incomplete one.
    whole = rest[: rest.rfind("\n") + 1]
    return [int(line) for line in [*acknowledged, *whole.splitlines()]]


def test_acknowledged_commits_survive_a_kill_and_are_complete(path: Path) -> None:
    chance = random.Random(7)
    acknowledged: list[int] = []
    for _ in range(ROUNDS):
        acknowledged += kill_a_committer(path, chance.randint(1, 40))
        assert faults(path) == []
        with opened(path) as store:
            assert invariants.violations(store.load()) == []
            _compare(store, acknowledged)
    assert len(acknowledged) > ROUNDS


def _compare(store: Store, acknowledged: list[int]) -> None:
    state, reader = store.load(), store.reader
    assert state.next_id >= acknowledged[-1] + 3
    jobs = reader.jobs(range(1, state.next_id))
    kept = [first for first in range(1, state.next_id, 3) if reader.submission("ann", str(first)) is not None]
    assert set(acknowledged) <= set(kept), "one that was kept may not have been acknowledged before the kill"
    removed = {number - 30 for number in kept if number > 30}
    for first in kept:
        assert reader.submission("ann", str(first)) == range(first, first + 3)
        for number in set(range(first, first + 3)) - removed:
            assert jobs[number].spec.name == str(first)
            kinds = [event.kind for event in reader.story(number)]
            assert kinds[0] == "JobSubmitted"
            assert (len(kinds) > 1) == (jobs[number].attempt > 0)
    for number in removed:
        assert number not in jobs
        assert reader.story(number) == []
