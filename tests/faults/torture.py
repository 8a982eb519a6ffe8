"""Random kill -9 under load: `python -m tests.faults.torture [--kills N] [--jobs N] [--seed N] [--scan]`.

One thread submits, one kills, one changes waiting jobs and the queue; after each kill, the next command restarts
Tarmac. At the end, the judge checks all promises. The same seed gives the same jobs and the same order of kills, but
not the same timing.
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

from tests.faults.books import story_of
from tests.faults.judge import Verdict, expect_all_well, judge
from tests.faults.load import ENDLESS_MS, Load
from tests.faults.meddler import Meddler
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
    pause_s: float = 0.6  # average time between two kills
    done: Counter[str] = field(default_factory=Counter)
    meddled: Counter[str] = field(default_factory=Counter)
    trouble: list[BaseException] = field(default_factory=list)

    def run(self, within_s: float) -> None:
        self._deadline = time.monotonic() + within_s
        self.world.wake()
        # Many of these jobs fail at once on purpose.
        self.world.ask(lambda: self.world.client.set("suspend_after_failures", 0))
        meddler = Meddler(self.world, self.seed + 2)
        submit, kill, meddle = (
            threading.Thread(target=self._guarded, args=(what,)) for what in (self._submit, self._kill, meddler.run)
        )
        for thread in (submit, kill, meddle):
            thread.start()
        submit.join()
        kill.join()
        meddler.end()
        meddle.join()
        self.meddled = meddler.done
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
        load = Load(self.world, self.seed)
        while (count := len(self.world.acknowledged)) < self.jobs and not self.is_late:
            if count / self.jobs > (sum(self.done.values()) + 1) / self.kills:
                self.world.ask(self.world.client.status)  # the next command restarts what was killed
                time.sleep(0.02)
                continue
            submit = load.next(self.jobs - count)
            ids = self.world.submit(submit.requests, **submit.how)
            for number, request in zip(ids, submit.requests, strict=True):
                if request["command"][2] == str(ENDLESS_MS):
                    self.world.stop(number)

    # Another

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
    return "\n".join(
        [
            f"seed              {torture.seed}",
            f"kills             {sum(torture.done.values())} ({_listed(torture.done)})",
            f"jobs              {verdict.jobs}, {len(torture.world.stopped)} of them stopped by hand",
            f"meddled           {sum(torture.meddled.values())} times ({_listed(torture.meddled)})",
            *_happened(torture.world),
            f"lost              {len(verdict.lost)} jobs, {len(verdict.lost_retries)} retries",
            f"run twice         {len(verdict.run_twice)}",
            f"GPUs booked twice {len(verdict.booked_twice)}",
            f"begun out of turn {len(verdict.out_of_turn)}",
            f"wrong exit codes  {len(verdict.wrong_exit)}",
            f"unknown           {verdict.unknown}, all of them after their shim was killed"
            if not verdict.not_unknown
            else f"unknown           {verdict.unknown}; ends claimed that nobody saw: {len(verdict.not_unknown)}",
        ]
    )


def _happened(world: World) -> list[str]:
    """Which of the intended cases occurred."""
    story = story_of(world)
    jobs = [job for page in world.client.pages({}) for job in page]
    again = [job["attempt"] for job in jobs if job["attempt"] > 1]
    ends = Counter(str(job["reason"]) for job in jobs)
    requeued = f"{story.count('Preempted')} preempted, {story.count('QueueStopped')} by stopping the queue"
    return [
        f"requeued          {requeued}; {len(again)} jobs ran again, one of them {max(again, default=1)} times",
        f"retried           {sum(job['attempt'] > 1 and job['retries'] > 0 for job in jobs)} jobs with retries",
        f"ended by Tarmac   {ends['timeout']} at their time limit, {ends['dependency']} for what they waited for",
        f"queue             {len(world.pauses)} times paused, {len(world.reserved)} reservations",
    ]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


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
            if not verdict.is_good:
                print(verdict)
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
