"""Random jobs of every kind, as requests for the witness; the same seed gives the same jobs."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.faults.world import World

ENDLESS_MS = 600_000  # ends only when it is stopped
OVER_LIMIT_MS = 700_000  # ends only by its time limit
FOR_THEM_TO_GO_S = 0.2
ARRAY_JOBS = (2, 12)


@dataclass(frozen=True, kw_only=True)
class Submit:
    requests: list[dict[str, Any]]
    how: dict[str, Any]  # common options


class Load:
    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._chance = random.Random(seed)
        self._arrays = 0
        self._sorts: dict[Callable[[int], list[dict[str, Any]]], int] = {
            self._plain: 37,
            self._retried: 8,
            self._preemptible: 20,
            self._urgent: 6,
            self._shared: 14,
            self._over_limit: 4,
            self._within_limit: 6,
            self._chain: 4,
            self._after_known: 5,
        }

    def next(self, most: int) -> Submit:
        kind = self._chance.choices(("queued", "array", "held"), (16, 3, 2))[0]
        if kind == "array":
            return Submit(
                requests=self._array(min(most, self._chance.randint(*ARRAY_JOBS))), how={"group": {"kind": "array"}}
            )
        count = min(most, self._chance.choice((1, 1, 2, 5, 10, 30)))
        requests: list[dict[str, Any]] = []
        while len(requests) < count:
            sort = self._chance.choices(list(self._sorts), list(self._sorts.values()))[0]
            requests += sort(len(requests))
        return Submit(requests=requests[:count], how={} if kind == "queued" else {"entry": "held"})

    def _gpus(self) -> int:
        return self._chance.choices((0, 1, 2, 4), (2, 10, 2, 1))[0]

    def _short_ms(self) -> int:
        return self._chance.choice((0, self._chance.randrange(100)))

    def _stubborn(self) -> list[str]:
        return ["stubborn"] if self._chance.random() < 0.3 else []

    def _plain(self, _: int) -> list[dict[str, Any]]:
        leave = self._chance.choices((None, "straggler", "detached"), (20, 1, 1))[0]
        ms = ENDLESS_MS if self._chance.random() < 0.08 else self._short_ms()
        return self._world.requests(1, gpus=self._gpus(), ms=ms, leave=leave)

    def _retried(self, _: int) -> list[dict[str, Any]]:
        """Tried again if its id makes it fail, at once or after a wait."""
        tier = self._chance.choice(("normal", "preemptible"))
        delay_s = self._chance.choice((None, 0.0, 0.05, 0.5))
        asked = {"retries": self._chance.choice((1, 2)), "retry_delay_s": delay_s, "tier": tier, "grace_s": 0.2}
        return self._world.requests(1, gpus=self._gpus(), ms=self._short_ms(), **asked)

    def _preemptible(self, _: int) -> list[dict[str, Any]]:
        """Long enough to block other jobs."""
        ms = self._chance.choices((self._chance.randrange(50, 800), ENDLESS_MS), (12, 1))[0]
        leave = self._chance.choices((None, "straggler", "detached"), (10, 1, 1))[0]
        asked = {"tier": "preemptible", "grace_s": FOR_THEM_TO_GO_S, "words": self._stubborn()}
        return self._world.requests(1, gpus=max(1, self._gpus()), ms=ms, leave=leave, **asked)

    def _urgent(self, _: int) -> list[dict[str, Any]]:
        return self._world.requests(1, gpus=self._chance.choice((1, 2, 4)), ms=self._short_ms(), tier="urgent")

    def _shared(self, _: int) -> list[dict[str, Any]]:
        quarters = self._chance.choice((1, 2, 3))
        tier = self._chance.choice(("normal", "preemptible"))
        asked = {"gpu_share": quarters / 4, "tier": tier, "grace_s": FOR_THEM_TO_GO_S}
        return self._world.requests(1, ms=self._chance.randrange(200), words=[f"quarters:{quarters}"], **asked)

    def _over_limit(self, _: int) -> list[dict[str, Any]]:
        tier = self._chance.choice(("normal", "preemptible"))
        limit_s = self._chance.choice((0.05, 0.2, 0.5))
        asked = {"tier": tier, "time_limit_s": limit_s, "grace_s": FOR_THEM_TO_GO_S, "words": self._stubborn()}
        return self._world.requests(1, ms=OVER_LIMIT_MS, **asked)

    def _within_limit(self, _: int) -> list[dict[str, Any]]:
        return self._world.requests(1, gpus=self._gpus(), ms=self._short_ms(), time_limit_s=600)

    def _chain(self, first: int) -> list[dict[str, Any]]:
        """Each job depends on the previous one, some also on the first."""
        links = [self._preemptible if self._chance.random() < 0.3 else self._plain for _ in range(4)]
        jobs = [dict(link(0)[0]) for link in links]
        for number, job in enumerate(jobs[1:], 1):
            waits_for = {number - 1} | ({0} if self._chance.random() < 0.3 else set())
            job["after"] = [f"#{first + one}:{self._chance.choice(('ok', 'any', 'any', 'fail'))}" for one in waits_for]
            job["command"] = [*_in_time(job["command"]), *(f"after:{one - number}" for one in sorted(waits_for))]
        return jobs

    def _after_known(self, _: int) -> list[dict[str, Any]]:
        """Some of these jobs ended long ago."""
        known = self._world.acknowledged[-40:]
        if not known:
            return self._plain(0)
        other = self._chance.choice(known)
        after = f"{other}:{self._chance.choice(('ok', 'any', 'fail'))}"
        return self._world.requests(1, ms=self._short_ms(), words=[f"after:{other}"], after=[after])

    def _array(self, count: int) -> list[dict[str, Any]]:
        self._arrays += 1
        most = self._chance.choice((1, 2, 3))
        tier = self._chance.choice(("normal", "preemptible"))
        asked = {"max_running": most, "tier": tier, "grace_s": FOR_THEM_TO_GO_S}
        words = [f"array:{self._arrays}:{most}", *self._stubborn()]
        return self._world.requests(count, ms=self._chance.randrange(80), words=words, **asked)


def _in_time(command: list[str]) -> list[str]:
    """No endless job, because nothing would stop one that starts late."""
    return [*command[:2], "50" if command[2] == str(ENDLESS_MS) else command[2], *command[3:]]
