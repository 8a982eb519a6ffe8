"""What 10,000 notifications that cannot be sent cost a submit: `add` beside `add` to a queue without notifications."""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.clock import in_turns, median, spawn
from bench.figures import Figure, milliseconds
from bench.home import Home, home

ROUNDS = 150
WAITING = 10_000


def figures(program: str) -> Iterator[Figure]:
    """A server that accepts connections and never answers keeps the sender busy all the time."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent, ExitStack() as homes:
        plain = homes.enter_context(home(program, gpus=1))
        full = homes.enter_context(home(program, gpus=1))
        configure(full, f"json://127.0.0.1:{silent.getsockname()[1]}/")
        for place in (plain, full):
            place.hold_all_gpus()
        fill(full)
        with_s, without_s = in_turns(ROUNDS, lambda: add(full), lambda: add(plain), warm_up=5)
        waiting = (full.client.status()["notifications"] or {"waiting": 0})["waiting"]
        if waiting < WAITING:
            sys.exit(f"bench: only {waiting} notifications wait")
    yield Figure(
        what=f"tarmac add, {WAITING:,} notifications waiting ÷ none",
        measured=milliseconds(median(with_s)),
        ratio=median(with_s) / median(without_s),
        unit="×",
        must=1.05,
        aim=1.0,
    )


def configure(place: Home, url: str) -> None:
    """Start again, with this target for all jobs."""
    place.client.stop()
    while (Path(place.folder) / "tarmac.sock").exists():
        time.sleep(0.02)
    settings = "notify_digest_s = 0\nnotify_retry_s = 1\n[notify]\ndefault = 'hook'\n"
    text = f"{settings}[notify.targets]\nhook = {json.dumps(url)}\n"
    path = os.path.join(place.folder, "config.toml")
    Path(path).write_text(text)
    os.chmod(path, 0o600)
    place.client.status()


def fill(place: Home) -> None:
    ids = place.client.submit_many([{"command": ["true"]} for _ in range(WAITING)], entry="held")
    place.client.kill(*ids)
    while (place.client.status()["notifications"] or {"waiting": 0})["waiting"] < WAITING:
        time.sleep(0.1)


def add(place: Home) -> None:
    spawn(place.cli("add", "--", place.program), place.env)
