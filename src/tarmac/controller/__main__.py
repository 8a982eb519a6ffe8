"""`python -m tarmac.controller`: puts the parts together and runs them until told to end.

Whoever holds the lock of the state folder is the controller. Everybody else waits until it answers, and leaves.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import gc
import json
import logging
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

import uvloop

from tarmac import __version__, paths
from tarmac.api.app import build_app
from tarmac.api.server import Server
from tarmac.controller.engine import Engine
from tarmac.controller.publisher import Publisher
from tarmac.controller.settings.config import LISTED, ConfigError, load_config
from tarmac.controller.settings.settings import Settings
from tarmac.controller.socket_watch import Presence
from tarmac.errors import TarmacError, Unavailable, UserError
from tarmac.nodes.fleet import Fleet
from tarmac.nodes.local import LocalConnector, lasting_name
from tarmac.nodes.session import AgentSession
from tarmac.shared import crashpoint, sockets
from tarmac.store.store import Store

log = logging.getLogger("tarmac.controller")

FIRST_READING_WITHIN_S = 5.0
AGENT_ENDS_WITHIN_S = 5.0


def main() -> int:
    options = _options()
    sys.setswitchinterval(0.0005)  # the writer and the loop hand over to each other at every commit
    os.umask(0o077)  # the database holds the environments of jobs, and those hold secrets
    state_folder = Path(options.state)
    say = _Ready(options.ready_fd)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        paths.make_private(str(state_folder))
        if not _become_the_one(state_folder, say):
            return 0
        crashpoint.reach("controller:after-lock")
        uvloop.run(_run(state_folder, say))
    except TarmacError as error:
        kind = "config: " if isinstance(error, ConfigError) else ""
        say(f"error: {kind}{error}")
        return error.exit_code
    except OSError as error:
        say(f"error: {error}")
        return 5
    return 0


async def _run(state_folder: Path, say: _Ready) -> None:
    config = load_config(Path(paths.config_path()))
    listed = config.pop(LISTED, None)
    (state_folder / "logs").mkdir(mode=0o700, exist_ok=True)
    store = Store(state_folder / "tarmac.db")
    try:
        settings = Settings(config, store.reader.settings())
        fleet = Fleet()
        engine = Engine(
            store=store,
            settings=settings,
            state_folder=state_folder,
            publisher=Publisher(),
            fleet=fleet,
            clock=time.time,
        )
        connector = LocalConnector(state_folder, {} if listed is None else {"TARMAC_LISTED_GPUS": json.dumps(listed)})
        name = lasting_name(state_folder, socket.gethostname())
        fleet.add(AgentSession(name, connector, post=engine.post, readings=engine.board))
        supervision = asyncio.create_task(fleet.run())
        try:
            await _serve(engine, state_folder, say)
            await engine.keep_usage()
        finally:
            if fleet.is_ending:
                await asyncio.wait({supervision}, timeout=AGENT_ENDS_WITHIN_S)
            supervision.cancel()
            await asyncio.gather(supervision, return_exceptions=True)
    finally:
        store.close()


async def _serve(engine: Engine, state_folder: Path, say: _Ready) -> None:
    def end() -> None:
        engine.end()
        server.end()

    def taken_away() -> None:
        log.warning("the socket or the lock in %s was taken away", state_folder)
        engine.fleet.end_agents()  # or one that is just being started would bring the folder back
        end()

    server = Server(build_app(engine, end))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    try:
        async with asyncio.timeout(FIRST_READING_WITHIN_S):
            await engine.fleet.home.has_gpus.wait()
    except TimeoutError:
        log.warning("no word about GPUs within %g s; going on without", FIRST_READING_WITHIN_S)
    crashpoint.reach("controller:before-listen")
    socket_path = paths.socket_path(str(state_folder))
    listening = sockets.listen(socket_path)
    log.info("Tarmac %s, pid %d, listens on %s", __version__, os.getpid(), socket_path)
    presence = Presence(state_folder, ("tarmac.sock", "controller.lock"))
    presence.watch(asyncio.get_running_loop(), taken_away)
    _settle_memory()
    crashpoint.reach("controller:after-listen")
    say("ready")
    await server.serve(sockets=[listening])
    if presence.is_here():
        os.unlink(socket_path)
    log.info("ended; running jobs go on")


def _settle_memory() -> None:
    """What is there now stays: keep the collector from walking it again and again."""
    gc.collect()
    gc.freeze()


def _become_the_one(state_folder: Path, say: _Ready) -> bool:
    """False when another controller answers, which is what the caller wants.

    One that holds the lock and does not answer is starting or on its way out; in the end either it answers or its lock
    is free.
    """
    for _ in range(1500):
        if _take_lock(state_folder):
            return True
        if not say.is_asked:
            raise UserError(f"another controller runs on {state_folder} already", hint="`tarmac status` tells its pid")
        if _is_answered(state_folder):
            say("ready")
            return False
        time.sleep(0.02)
    raise Unavailable(f"the controller that holds {state_folder}/controller.lock does not answer")


def _take_lock(state_folder: Path) -> bool:
    """Held until this process ends, however it ends."""
    lock = os.open(state_folder / "controller.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    with suppress(OSError):  # for people; on a full disk it goes without
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
    return True


def _is_answered(state_folder: Path) -> bool:
    try:
        sockets.connect(paths.socket_path(str(state_folder))).close()
    except OSError:
        return False
    return True


class _Ready:
    """The pipe on which whoever started us waits for one line; the terminal where nobody does."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.is_asked = descriptor is not None

    def __call__(self, line: str) -> None:
        if self._descriptor is not None:
            with suppress(BrokenPipeError):  # whoever wanted to know was interrupted; others will come
                os.write(self._descriptor, f"{line}\n".encode())
            os.close(self._descriptor)
            self._descriptor = None
        elif line != "ready":
            print(f"tarmac: {line}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tarmac.controller")
    parser.add_argument("--state", default=paths.state_folder())
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--foreground", action="store_true", help="accepted for symmetry; it never forks")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
