"""Start latency: on an idle GPU, after the previous job, and of a thousand jobs."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bench import stamps
from bench.clock import median, p95
from bench.figures import Figure, milliseconds
from bench.floors import Floors
from bench.home import Home, home

LONE_JOBS = 60
CHAIN = 100
FLOOD = 1_000


@dataclass(frozen=True, kw_only=True)
class Starts:
    take_offs_s: list[float]
    hand_overs_s: list[float]
    jobs_per_s: float


def measure(program: str) -> Starts:
    with home(program, gpus=1) as place:
        alone, chained = take_offs(place), hand_overs(place)
    with home(program, gpus=4) as place:
        return Starts(take_offs_s=alone, hand_overs_s=chained, jobs_per_s=flood(place))


def figures(starts: Starts, floors: Floors) -> Iterator[Figure]:
    yield from spread("submit returned → first instruction", starts.take_offs_s, floors)
    yield from spread("one GPU: end of a job → next one's first", starts.hand_overs_s, floors)
    yield Figure(
        what=f"{FLOOD:,} no-ops through 4 GPUs",
        measured=f"{starts.jobs_per_s:.0f} jobs/s",
        ratio=starts.jobs_per_s * floors.spawn_s,
        unit="/S",
        must=0.15,
        aim=0.25,
        more_is_better=True,
    )


def spread(what: str, taken: Sequence[float], floors: Floors) -> Iterator[Figure]:
    middle = median(taken)
    yield Figure(what=what, measured=milliseconds(middle), ratio=middle / floors.durable_s, unit="D", must=5, aim=2)
    yield Figure(
        what="  its p95 ÷ median", measured=milliseconds(p95(taken)), ratio=p95(taken) / middle, unit="×", must=3, aim=2
    )


def take_offs(place: Home) -> list[float]:
    """Time from the return of the submit to the job's first instruction, one job at a time."""
    taken = []
    for _ in range(LONE_JOBS):
        file = place.stamps_file()
        (job,) = place.client.submit_many([{"command": [place.program, file]}])
        returned_s = time.monotonic()
        taken.append(stamps.wait_for(file, 1)[0].start_s - returned_s)
        place.client.wait(job)
    return taken


def hand_overs(place: Home, count: int = CHAIN) -> list[float]:
    file = place.stamps_file()
    place.client.submit_many([{"command": [place.program, file]} for _ in range(count)])
    ran = stamps.wait_for(file, count)
    return [after.start_s - before.end_s for before, after in pairwise(ran)]


def flood(place: Home) -> float:
    file = place.stamps_file()
    started_s = time.monotonic()
    place.client.submit_many([{"command": [place.program, file]} for _ in range(FLOOD)])
    ran = stamps.wait_for(file, FLOOD)
    return FLOOD / (max(stamp.end_s for stamp in ran) - started_s)
