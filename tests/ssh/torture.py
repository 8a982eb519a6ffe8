"""Random trouble with links under load: `python -m tests.ssh.torture [--cuts N] [--kills N] [--jobs N] [--seed N]`.

Four nodes, each with a thread that cuts its link: in both directions or in one, once or flapping, for 1 s to 2 min.
Another thread kills `ssh`, `sshd`, agents and the controller with SIGKILL, and another submits. At the end, the judge
checks all promises. The same seed gives the same jobs and the same troubles, but not the same timing.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.judge import Verdict, judge
from tests.faults.world import eventually
from tests.ssh.fleet import Fleet
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab

NAMES = ["gpu01", "gpu02", "gpu03", "gpu04"]
GPUS = 4
KINDS = {"ssh": 35, "sshd": 20, "agent": 30, "controller": 15}
DIRECTIONS = ("both", "both", "to", "from")
SHORTEST_S, LONGEST_S = 1.0, 120.0
FLAPS_S = (0.1, 1.5)


@dataclass(kw_only=True)
class Torture:
    fleet: Fleet
    cuts: int
    kills: int
    jobs: int
    seed: int
    longest_s: float = LONGEST_S
    pause_s: float = 6.0  # average time between two troubles of a node, and between two kills
    done: Counter[str] = field(default_factory=Counter)
    trouble: list[BaseException] = field(default_factory=list)

    def run(self, within_s: float) -> None:
        self._deadline = time.monotonic() + within_s
        world = self.fleet.world
        # Many of these jobs fail at once on purpose.
        world.ask(lambda: world.client.set("suspend_after_failures", 0))
        chance = random.Random(self.seed)
        self._left = threading.BoundedSemaphore(self.cuts)
        threads = [threading.Thread(target=self._guarded, args=(self._submit, random.Random(chance.random())))]
        threads += [threading.Thread(target=self._guarded, args=(self._kill, random.Random(chance.random())))]
        self._locks = {host.name: threading.Lock() for host in self.fleet.hosts}
        for host in self.fleet.hosts:
            threads += [threading.Thread(target=self._guarded, args=(self._cut, random.Random(chance.random()), host))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.trouble:
            raise self.trouble[0]

    def _guarded(self, what, *arguments) -> None:  # type: ignore[no-untyped-def]
        try:
            what(*arguments)
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            self.trouble.append(error)

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self._deadline or bool(self.trouble)

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.is_late:
            time.sleep(min(0.1, max(0.0, until - time.monotonic())))

    # Threads

    def _submit(self, chance: random.Random) -> None:
        """Spread over the whole time, so that jobs start and end during every trouble."""
        world = self.fleet.world
        while (count := len(world.acknowledged)) < self.jobs and not self.is_late:
            share = (self.done["cut"] + self.done["kill"]) / (self.cuts + self.kills)
            if count / self.jobs > share + 0.05:
                time.sleep(0.1)
                world.ask(world.client.status)  # the next command restarts what was killed
                continue
            gpus = chance.choices((0, 1, 2, 4), (1, 10, 3, 1))[0]
            leave = chance.choices((None, "straggler", "detached"), (18, 1, 1))[0]
            ms = chance.choice((0, chance.randrange(1000), chance.randrange(20_000)))
            world.submit(
                world.requests(min(chance.choice((1, 1, 2, 4)), self.jobs - count), gpus=gpus, ms=ms, leave=leave)
            )

    def _kill(self, chance: random.Random) -> None:
        while self.done["kill"] < self.kills and not self.is_late:
            self._wait(chance.expovariate(1 / self.pause_s))
            kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
            if self._strike(kind, chance.choice(self.fleet.hosts)):
                self.done["kill"] += 1
                self.done[kind] += 1

    def _strike(self, kind: str, host: Host) -> bool:
        if kind == "controller":
            return self.fleet.world.kill("controller")
        if kind == "ssh":
            return self.fleet.kill_link(host)
        with self._locks[host.name]:
            if kind == "agent":
                return self.fleet.kill_agent(host)
            self.fleet.kill_sshd(host)
            return True

    def _cut(self, chance: random.Random, host: Host) -> None:
        while self._left.acquire(blocking=False) and not self.is_late:
            self._wait(chance.expovariate(1 / self.pause_s))
            direction = chance.choice(DIRECTIONS)
            lasts_s = min(self.longest_s, SHORTEST_S * (self.longest_s / SHORTEST_S) ** chance.random())
            is_flapping = chance.random() < 0.25
            ends = time.monotonic() + lasts_s
            while time.monotonic() < ends and not self.is_late:
                with self._locks[host.name]:
                    host.cut(direction)
                self._wait(chance.uniform(*FLAPS_S) if is_flapping else lasts_s)
                with self._locks[host.name]:
                    host.heal()
                self._wait(chance.uniform(*FLAPS_S) if is_flapping else 0)
            self.done["cut"] += 1
            self.done[f"{direction}{', flapping' if is_flapping else ''}"] += 1


def summary(torture: Torture, verdict: Verdict) -> str:
    kinds = [*KINDS, "both", "to", "from", "both, flapping", "to, flapping", "from, flapping"]
    listed = "; ".join(f"{torture.done[kind]} {kind}" for kind in kinds)
    return "\n".join(
        [
            f"seed              {torture.seed}",
            f"trouble           {torture.done['cut']} cuts, {torture.done['kill']} kills ({listed})",
            f"jobs              {verdict.jobs}",
            f"lost              {len(verdict.lost)}",
            f"run twice         {len(verdict.run_twice)}",
            f"GPUs booked twice {len(verdict.booked_twice)}",
            f"wrong exit codes  {len(verdict.wrong_exit)}",
            f"unknown           {verdict.unknown}",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.ssh.torture")
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--longest", type=float, default=LONGEST_S, metavar="S", help="the longest cut")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--within", type=float, default=7200, metavar="S", help="give up after this long")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    lab = Lab()
    try:
        fleet = Fleet(lab, NAMES, GPUS)
        torture = Torture(
            fleet=fleet,
            cuts=options.cuts,
            kills=options.kills,
            jobs=options.jobs,
            seed=options.seed,
            longest_s=options.longest,
        )
        began = time.monotonic()
        try:
            torture.run(options.within)
            fleet.world.wait_for_all(300)
            verdict = judge(fleet.world)
            print(summary(torture, verdict))
            if not verdict.is_good:
                print(verdict)
            print(f"took              {time.monotonic() - began:.0f} s", flush=True)
            fleet.expect_all_well()
            eventually(lambda: all(len(fleet.links(host)) == 1 for host in fleet.hosts), "there is one link per host")
        finally:
            left = fleet.close()
    finally:
        lab.close()
    assert not left, f"processes left behind: {left}"
    assert not torture.is_late, f"not done within {options.within:.0f} s"
    return 0 if verdict.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
