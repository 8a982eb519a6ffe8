"""A hundred nodes with eight GPUs each: what the controller spends while nothing happens, and nodes that hang."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.clock import median
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.idling import cpu_s
from bench.nodes.played_agents import ENDS_AT_ONCE, PlayedAgents

NODES, GPUS = 100, 8
HANGING = 10
SETTLE_S, WATCHED_S = 10.0, 30.0
CHAIN, ROUNDS = 60, 3
FOR_THEM_TO_HANG_S = 2.0  # they are still connected then; later, the controller tries again and again to reach them
PATIENCE_S = 120.0


def figures(program: str) -> Iterator[Figure]:
    with many_nodes(program) as (place, agents):
        time.sleep(SETTLE_S)
        controller = place.client.status()["controller_pid"]
        place.client.close()
        before_s = cpu_s(controller)
        time.sleep(WATCHED_S)
        percent = 100 * (cpu_s(controller) - before_s) / WATCHED_S
        yield Figure(
            what=f"{NODES} nodes × {GPUS} GPUs, idle: CPU of the controller",
            measured=f"{percent * WATCHED_S * 10:.0f} ms in {WATCHED_S:.0f} s",
            ratio=percent,
            unit="%",
            must=20,
            aim=5,
        )
        yield from hand_overs(place, agents)


def hand_overs(place: Home, agents: PlayedAgents) -> Iterator[Figure]:
    """All nodes but one are busy for good. On that one, jobs follow each other."""
    place.client.submit_many([{"command": ["never-ends"], "gpus": GPUS, "cwd": "/"} for _ in range(NODES - 1)])
    until(lambda: place.client.status()["running"] == NODES - 1)
    hosts = sorted({str(job.node) for job in place.client.jobs(state="running")})[:HANGING]
    all_well, some_hang, lost = [], [], []
    for _ in range(ROUNDS):
        all_well += chain(place, agents)
        agents.hang(hosts)
        time.sleep(FOR_THEM_TO_HANG_S)
        some_hang += chain(place, agents)
        until(lambda: connected(place) == NODES - HANGING)
        lost += chain(place, agents)
        agents.wake(hosts)
        until(lambda: connected(place) == NODES)
    for what, taken in (("hang", some_hang), ("are tried again", lost)):
        yield Figure(
            what=f"hand-over while {HANGING} of {NODES} nodes {what} ÷ none",
            measured=milliseconds(median(taken)),
            ratio=median(taken) / median(all_well),
            unit="×",
            must=1.2,
            aim=1.1,
            note=f"({milliseconds(median(all_well))} otherwise)",
        )


def chain(place: Home, agents: PlayedAgents) -> list[float]:
    """From the report of an end to the start of the next job."""
    agents.starts.clear()
    agents.ends.clear()
    place.client.submit_many([{"command": [ENDS_AT_ONCE], "gpus": GPUS, "cwd": "/"} for _ in range(CHAIN)])
    until(lambda: len(agents.ends) == CHAIN)
    return [start - end for end, start in zip(agents.ends, agents.starts[1:], strict=False)]


def connected(place: Home) -> int:
    """But for this machine."""
    return sum(bool(node["connected"]) for node in place.client.status()["nodes"]) - 1


@contextmanager
def many_nodes(program: str) -> Iterator[tuple[Home, PlayedAgents]]:
    folder = tempfile.mkdtemp(prefix="tarmac-bench-")
    agents = PlayedAgents(folder, GPUS)
    before = {name: os.environ.get(name) for name in agents.variables}
    os.environ.update(agents.variables)  # the first call starts the controller with this environment
    try:
        with home(program, gpus=0) as place:
            for number in range(NODES):
                name = f"gpu{number:03}"
                place.client.add_node(name, name, later=True)
            until(lambda: len(place.client.gpus()) == NODES * GPUS)
            yield place, agents
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        agents.close()


def until(condition) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_S:.0f} s")
        time.sleep(0.1)
