"""An array of a million jobs: how long its submit takes, each verb beside it, and the search once all have ended."""

import time
from collections.abc import Iterator

from bench.clock import median, samples, spawn, timed
from bench.figures import Figure, milliseconds
from bench.home import Home, home

JOBS = 1_000_000
SOME = JOBS // 2  # a job in the middle of the array
SEARCHES = 20


def figures(program: str) -> Iterator[Figure]:
    with home(program, gpus=4) as place:
        place.hold_all_gpus()
        first = place.client.submit(["true"]).id + 1
        array = place.cli("add", "--array", f"0-{JOBS - 1}", "--", program)
        array_s = timed(lambda: spawn(array, place.env))
        yield Figure(
            what=f"{JOBS:,} jobs as one array", measured=f"{array_s:.1f} s", ratio=array_s, unit="s", must=30, aim=15
        )
        slowest_s, verb = max((timed(lambda words=words: spawn(words, place.env)), words[1]) for words in verbs(place))
        yield Figure(
            what=f"the slowest verb, {JOBS:,} queued",
            measured=milliseconds(slowest_s),
            ratio=slowest_s,
            unit="s",
            must=1,
            aim=0.5,
            note=verb,
        )
        kill_s = timed(lambda: spawn(place.cli("kill", "--group", str(first)), place.env))
        search_s = searched_s(place)
        yield Figure(
            what=f"history search, {JOBS:,} ended",
            measured=milliseconds(search_s),
            ratio=search_s * 1000,
            unit="ms",
            must=100,
            aim=50,
            note=f"killing them took {kill_s:.0f} s",
        )


def verbs(place: Home) -> Iterator[list[str]]:
    """Each changes or shows a few jobs."""
    some, page = str(SOME), ["--json", "-n", "100"]
    for words in (
        ["add", "--", place.program], ["ls"], ["ls", *page, some], ["show", some], ["why", some], ["status"], ["gpus"],
        ["hold", some], ["release", some], ["move", some, "1"], ["kill", some], ["history"],
    ):  # fmt: skip
        yield place.cli(*words)


def searched_s(place: Home) -> float:
    """Wait until the index knows all of them, then search for a rare word and for one that all have."""
    place.client.kill(place.client.submit(["true"], name="needle-7").id)
    while place.client.call("GET", "/history", query={"search": "needle", "limit": 1})["unindexed"]:
        time.sleep(0.5)
    rare, common = (
        median(samples(lambda text=text: list(place.client.history(search=text, limit=20)), SEARCHES))
        for text in ("needle", "stamp")
    )
    return max(rare, common)
