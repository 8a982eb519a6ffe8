"""Random kill -9 under load: `python -m tests.faults.torture [--kills N] [--jobs N] [--seed N] [--scan]`.

One thread submits, one kills, Tarmac restarts by the next command whenever something was killed. The judge has the
last word. The same seed gives the same jobs and the same order of kills; when each strikes is up to the machine.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.judge import Verdict, expect_all_well, judge
from tests.faults.world import World, compile_witness
from tests.home import Home, until

KINDS = {"controller": 25, "agent": 25, "controller and agent": 10, "shim": 31, "spare": 3, "probe": 3, "power": 3}
GPUS = 8


@dataclass(kw_only=True)
class Torture:
    world: World
    kills: int
    jobs: int
    seed: int
    pause_s: float = 0.6  # between two kills, on average
    done: Counter[str] = field(default_factory=Counter)
    trouble: list[BaseException] = field(default_factory=list)

    def run(self, within_s: float) -> None:
        self._deadline = time.monotonic() + within_s
        self.world.wake()
        threads = [threading.Thread(target=self._guarded, args=(what,)) for what in (self._submit, self._kill)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.trouble:
            raise self.trouble[0]

    def _guarded(self, what) -> None:  # type: ignore[no-untyped-def]
        try:
            what()
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            self.trouble.append(error)

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._deadline or bool(self.trouble)

    # One thread

    def _submit(self) -> None:
        chance = random.Random(self.seed)
        while (count := len(self.world.acknowledged)) < self.jobs and not self.is_late:
            if count / self.jobs > (sum(self.done.values()) + 1) / self.kills:
                self.world.ask(self.world.client.status)  # the next command, which starts what was killed
                time.sleep(0.02)
                continue
            batch = self._batch(chance, min(chance.choice((1, 1, 2, 5, 10, 30)), self.jobs - count))
            ids = self.world.submit(batch)
            self._stop_endless_ones(batch, ids)

    def _batch(self, chance: random.Random, count: int) -> list[dict[str, object]]:
        return [one for _ in range(count) for one in self._request(chance)]

    def _request(self, chance: random.Random) -> list[dict[str, object]]:
        gpus = chance.choices((0, 1, 2, 4), (2, 10, 2, 1))[0]
        leave = chance.choices((None, "straggler", "detached"), (20, 1, 1))[0]
        ms = chance.choices((0, chance.randrange(100), 600_000), (6, 6, 1))[0]
        return self.world.requests(1, gpus=gpus, ms=ms, leave=leave)

    def _stop_endless_ones(self, batch: list[dict[str, object]], ids: list[int]) -> None:
        """Some jobs end only because somebody asks them to."""
        for number, request in zip(ids, batch, strict=True):
            if "600000" in request["command"]:  # type: ignore[operator]
                self.world.stop(number)

    # The other thread

    def _kill(self) -> None:
        chance = random.Random(self.seed + 1)
        while (count := sum(self.done.values())) < self.kills and not self.is_late:
            time.sleep(min(chance.choice((0.0, 0.02, chance.expovariate(1 / self.pause_s))), 10 * self.pause_s))
            if count / self.kills > (len(self.world.acknowledged) + self.jobs / 20) / self.jobs:
                continue
            kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
            if self._strike(kind, chance):
                self.done[kind] += 1

    def _strike(self, kind: str, chance: random.Random) -> bool:
        if kind == "controller and agent":
            return all([self.world.kill("controller"), self.world.kill("agent")])
        if kind == "power":
            self.world.cut_power()
            return True
        found = until(lambda: self.world.seen(kind), 0.3)
        return bool(found) and self.world.kill_one(chance.choice(found))


def summary(torture: Torture, verdict: Verdict) -> str:
    kills = ", ".join(f"{count} {kind}" for kind, count in sorted(torture.done.items()))
    return "\n".join(
        [
            f"seed              {torture.seed}",
            f"kills             {sum(torture.done.values())} ({kills})",
            f"jobs              {verdict.jobs}, {len(torture.world.stopped)} of them stopped by hand",
            f"lost              {len(verdict.lost)}",
            f"run twice         {len(verdict.run_twice)}",
            f"GPUs booked twice {len(verdict.booked_twice)}",
            f"wrong exit codes  {len(verdict.wrong_exit)}",
            f"unknown           {verdict.unknown}, all of them after their shim was killed"
            if not verdict.not_unknown
            else f"unknown           {verdict.unknown}; ends claimed that nobody saw: {len(verdict.not_unknown)}",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.faults.torture")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--scan", action="store_true", help="hold jobs together without cgroups")
    parser.add_argument("--within", type=float, default=1200, metavar="S", help="give up after this long")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tarmac-torture-") as folder:
        home = Home(Path(folder) / "home", str(GPUS))
        if options.scan:
            home.environment["TARMAC_CONTAINMENT"] = "scan"
        world = World(home, compile_witness(Path(folder)))
        torture = Torture(world=world, kills=options.kills, jobs=options.jobs, seed=options.seed)
        began = time.monotonic()
        try:
            torture.run(options.within)
            world.wait_for_all(300)
            verdict = judge(world)
            print(summary(torture, verdict))
            print(f"took              {time.monotonic() - began:.0f} s", flush=True)
            expect_all_well(world)
        finally:
            left = home.clean()
            world.sweep()
    assert not left, f"processes left behind: {left}"
    assert not torture.is_late, f"not done within {options.within:.0f} s"
    return 0 if verdict.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
