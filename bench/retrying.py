"""How soon a retry starts: a job that fails again and again, beside jobs that follow each other on the same GPU."""

from collections.abc import Iterator
from itertools import pairwise

from bench import stamps
from bench.clock import median
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.starting import hand_overs

ATTEMPTS = 15
ROUNDS = 25  # of each, in turns, so that other work on the machine hits both


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=1) as place:
        handed, retried = [], []
        for _ in range(ROUNDS):
            handed += hand_overs(place, ATTEMPTS)
            retried += retries(place)
    yield Figure(
        what="failed job → its retry's first instruction ÷ hand-over",
        measured=milliseconds(median(retried)),
        ratio=median(retried) / median(handed),
        unit="×",
        must=1.5,
        aim=1.0,
        note=f"hand-over {milliseconds(median(handed))}",
    )


def retries(place: Home) -> list[float]:
    file = place.stamps_file()
    failing = {"command": [place.program, file, "fail"], "retries": ATTEMPTS - 1, "retry_delay_s": 0}
    (job,) = place.client.submit_many([failing])  # type: ignore[list-item]
    ran = stamps.wait_for(file, ATTEMPTS)
    place.client.wait(job)
    return [after.start_s - before.end_s for before, after in pairwise(ran)]
