"""How many job lists per second the API answers, to wrk, with the session of a page."""

import re
import subprocess
from collections.abc import Iterator
from itertools import count

from bench.clock import median, samples
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.page.login import log_in
from bench.page.programs import has

JOBS = 100
GPUS = 4
CONNECTIONS = 8
SECONDS = 5
ROUNDS = 15


def figures(program: str) -> Iterator[Figure]:
    if not has("wrk"):
        return
    with home(program, gpus=GPUS) as place:
        fill(place)
        login = log_in(place.client)
        url = f"{login.address}/api/v1/jobs?limit={JOBS}"
        wrk("-d1", "-H", f"Cookie: {login.cookie}", url)
        said = wrk(f"-d{SECONDS}", "-H", f"Cookie: {login.cookie}", url)
        alone_s = alone(place)
        place.client.kill("all", grace_s=0)
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])  # type: ignore[index]
    errors = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    yield Figure(
        what=f"requests/s, list of {JOBS} jobs",
        measured=f"{rate:,.0f}/s",
        ratio=0 if errors else rate,
        unit="/s",
        must=3000,
        aim=5000,
        more_is_better=True,
        note=f"a list that nobody shares takes {milliseconds(alone_s)}",
    )


def fill(place: Home) -> None:
    """As many jobs as GPUs run, the others wait."""
    for number in range(JOBS):
        place.client.submit(["sleep", "3600"], name=f"train-{number}")
    while sum(job.state == "running" for job in place.client.jobs(state="active")) < GPUS:
        pass


def alone(place: Home) -> float:
    """A question that is new each time: the limit differs, the jobs do not."""
    numbers = count(JOBS + 1)
    ask = lambda: place.client.call("GET", "/jobs", query={"limit": next(numbers)})  # noqa: E731
    return median(samples(ask, ROUNDS))


def wrk(*words: str) -> str:
    done = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", *words], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout
