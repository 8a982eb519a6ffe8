"""Randomly changes waiting jobs and the queue as users do, and records the answers."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tarmac.client import Client
from tarmac.errors import Conflict, NotFound
from tests.faults.world import World

STRANGER = "somebody-else"  # a user whose reservations block all jobs
OFTEN_S = 0.25  # average time between two actions
LONGEST_S = 1.0


class Meddler:
    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._client = Client(world.home.path, start=False)  # one client per thread
        self._client.patience_s = 0
        self._chance = random.Random(seed)
        self._over = threading.Event()
        self.done: Counter[str] = Counter()
        self._acts: dict[Callable[[], None], int] = {
            self._hold: 4,
            self._release: 6,
            self._move: 4,
            self._edit: 4,
            self._pause: 3,
            self._stop: 2,
            self._reserve: 4,
            self._change_policy: 1,
        }

    def run(self) -> None:
        while not self._over.wait(min(self._chance.expovariate(1 / OFTEN_S), LONGEST_S)):
            act = self._chance.choices(list(self._acts), list(self._acts.values()))[0]
            try:
                act()
            except (Conflict, NotFound):
                continue  # it has started meanwhile, its GPUs are not available, or no job exists yet
            self.done[act.__name__.strip("_").replace("_", " ")] += 1
        self._clear_up()

    def end(self) -> None:
        self._over.set()

    def _ask(self, question: Callable[[], Any]) -> Any:
        return self._world.ask(question)

    def _some(self) -> list[int]:
        """Jobs that may still wait."""
        known = self._world.acknowledged[-60:]
        return self._chance.sample(known, min(len(known), self._chance.randint(1, 5)))

    def _one(self) -> int:
        """A waiting job, if there is one."""
        answer = self._ask(lambda: self._client.call("GET", "/jobs", query={"state": "queued", "limit": 50}))
        waiting = [job["id"] for job in answer["jobs"]] or [1]
        return self._chance.choice(waiting)

    def _hold(self) -> None:
        if jobs := self._some():
            self._ask(lambda: self._client.hold(*jobs))

    def _release(self) -> None:
        self._ask(lambda: self._client.release(state="held"))

    def _move(self) -> None:
        job, place = self._one(), self._chance.randint(1, 20)
        self._ask(lambda: self._client.move(job, place))

    def _edit(self) -> None:
        job, priority = self._one(), self._chance.randint(-5, 5)
        self._ask(lambda: self._client.edit(job, priority=priority, name="edited"))

    def _pause(self) -> None:
        self._ask(lambda: self._client.pause_queue("torture"))
        self._keep_paused()

    def _stop(self) -> None:
        grace_s = self._chance.choice((None, 0.0, 0.2))
        self._ask(lambda: self._client.stop_queue(grace_s=grace_s))
        self._keep_paused()

    def _keep_paused(self) -> None:
        since = time.time()
        self._over.wait(self._chance.uniform(0.05, LONGEST_S))
        self._world.pauses.append((since, time.time()))
        self._ask(self._client.resume_queue)

    def _reserve(self) -> None:
        begins_at, for_s = time.time() + self._chance.uniform(0, 0.5), self._chance.uniform(1.0, 2.0)
        gpus = self._chance.randint(1, 2)
        made = self._ask(lambda: self._client.reserve(gpus, begins_at=begins_at, for_s=for_s, user=STRANGER))
        indices = {gpu["index"] for gpu in made["gpus"]}
        self._world.reserved.append((max(time.time(), begins_at), begins_at + for_s, indices))

    def _change_policy(self) -> None:
        policy = self._chance.choice(("fifo", "balance", "fairshare"))
        self._ask(lambda: self._client.set("policy", policy))

    def _clear_up(self) -> None:
        """Undo everything that would keep jobs from ending."""
        self._ask(self._client.resume_queue)
        with suppress(NotFound):  # nothing is held
            self._release()
