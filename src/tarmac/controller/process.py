"""The controller as a process: reads the options, becomes the only controller of its state directory, and runs.

The process that holds the lock in the state directory is the controller. Any other waits until it answers, and exits.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from tarmac import __version__, paths
from tarmac.api.app import build_app
from tarmac.api.server import Server
from tarmac.api.wording.notes import note_in_english
from tarmac.api.wording.notifications import NotificationWords
from tarmac.api.wording.refusals import refusal
from tarmac.controller.controller import Controller, composed
from tarmac.controller.notify.notifications import Notifications
from tarmac.controller.notify.targets import NOTIFY, Targets
from tarmac.controller.settings.config import LISTED, load_config, read_config
from tarmac.controller.settings.node_entries import NODES
from tarmac.controller.settings.settings import Settings
from tarmac.controller.state_directory.ageing import is_cleaned, keep_fresh
from tarmac.controller.state_directory.log_file import LINE, log_to_file
from tarmac.controller.state_directory.socket_watch import SocketWatch
from tarmac.controller.state_directory.state_lock import StateLock
from tarmac.errors import TarmacError, Unavailable, UserError
from tarmac.refusal import Refused
from tarmac.shared import crashpoint
from tarmac.shared.own import file_limit, process_title
from tarmac.shared.system import sockets
from tarmac.store.database.database import inspect
from tarmac.store.store import Store
from tarmac.web.listener import PageListener

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger("tarmac.controller")

FIRST_READING_WITHIN_S = 5.0
AGENT_ENDS_WITHIN_S = 5.0


def main() -> int:
    options = _options()
    sys.setswitchinterval(0.0005)  # the writer and the loop alternate at every commit
    file_limit.raise_soft()  # one descriptor for each client that waits
    os.umask(0o077)  # the database stores the environments of jobs, which may contain secrets
    state_folder = Path(options.state or paths.state_folder())
    if options.check_config or options.check_all:
        print(json.dumps(_problems(state_folder, with_database=options.check_all)))
        return 0
    say = _Ready(options.ready_fd)
    logging.basicConfig(level=logging.INFO, format=LINE)
    try:
        paths.make_private(str(state_folder))
        if not _become_controller(state_folder, say):
            return 0
        if say.has_reader:  # started in the background
            log_to_file(paths.controller_log(str(state_folder)))
        process_title.begin("tarmac: controller", "tarmac-control")
        crashpoint.reach("controller:after-lock")
        uvloop.run(_run(state_folder, say))
    except Refused as refused:
        words = refusal(refused)
        kind = "config: " if refused.key.startswith("config.") else ""
        say("\n".join((f"error: {kind}{words.message}", *([words.hint] if words.hint else []))))
        return UserError.exit_code
    except TarmacError as error:
        say(f"error: {error}")
        return error.exit_code
    except OSError as error:
        path = error.filename2 or error.filename  # of a rename, the target
        say(f"error: {path}: {error.strerror}" if path and error.strerror else f"error: {error}")
        return 5
    return 0


async def _run(state_folder: Path, say: _Ready) -> None:
    config = load_config(Path(paths.config_path()))
    listed, nodes, targets = config.pop(LISTED, None), config.pop(NODES, []), config.pop(NOTIFY, Targets())
    (state_folder / "logs").mkdir(mode=0o700, exist_ok=True)
    store = Store(state_folder / "tarmac.db")
    try:
        settings = Settings(config, store.reader.settings())
        notifications = Notifications(targets, NotificationWords())
        controller = composed(store, settings, state_folder, listed, nodes, note_in_english, notifications)
        supervision = asyncio.create_task(controller.fleet.run())
        controller.fingerprints.begin()
        freshness = asyncio.create_task(keep_fresh(state_folder)) if is_cleaned(state_folder) else None
        try:
            await _serve(controller, say)
            await controller.store_usage()
            await notifications.end()
        finally:
            notifications.kill()
            controller.upkeep.end()
            controller.dispatcher.code.end()
            controller.fetches.end()
            controller.snapshot_upkeep.end()
            controller.snapshot_damage.end()
            controller.fingerprints.end()
            controller.snapshots.close()
            controller.history.end()
            if freshness is not None:
                freshness.cancel()
            if controller.fleet.is_ending:
                await asyncio.wait({supervision}, timeout=AGENT_ENDS_WITHIN_S)
            supervision.cancel()
            await asyncio.gather(supervision, return_exceptions=True)
    finally:
        store.close()


async def _serve(controller: Controller, say: _Ready) -> None:
    state_folder = controller.state_folder

    def end() -> None:
        controller.end()
        page.end()
        server.end()

    def removed() -> None:
        log.warning("the socket or the lock in %s was removed", state_folder)
        controller.fleet.end_agents()  # an agent that is just starting would create the directory again
        end()

    api = build_app(controller, end)
    server = Server(api)
    page = controller.page = PageListener(api, controller)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    try:
        async with asyncio.timeout(FIRST_READING_WITHIN_S):
            await controller.fleet.home.has_gpus.wait()
    except TimeoutError:
        log.warning("no GPU reading within %g s; starting without", FIRST_READING_WITHIN_S)
    crashpoint.reach("controller:before-listen")
    socket_path = paths.socket_path(str(state_folder))
    listening = sockets.listen(socket_path)
    log.info("Tarmac %s, pid %d, listens on %s", __version__, os.getpid(), socket_path)
    watch = SocketWatch(state_folder, ("tarmac.sock", "controller.lock"))
    watch.begin(asyncio.get_running_loop(), removed, controller.engine.check_store)
    _settle_memory()
    crashpoint.reach("controller:after-listen")
    page.resume()
    say("ready")
    await server.serve(sockets=[listening])
    await page.ended()
    watch.end()  # or removing the socket would pass for the loss of the directory, which ends the agents
    if watch.is_intact():
        os.unlink(socket_path)
    log.info("ended; running jobs continue")


def _settle_memory() -> None:
    """Collect garbage from now on, except in everything loaded so far: it stays.

    Look for cycles among old objects rarely. Jobs form none, and a look at each of a million takes half a second.
    """
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)
    gc.enable()


def _become_controller(state_folder: Path, say: _Ready) -> bool:
    """Take the lock. False if another controller answers, which serves the caller as well.

    A process that holds the lock but does not answer is starting or ending: sooner or later it answers or is gone.
    """
    lock = StateLock(state_folder)
    for _ in range(1500):
        if lock.take():
            return True
        if not say.has_reader:
            raise UserError(f"another controller already runs on {state_folder}", hint="`tarmac status` shows its pid")
        if _answers(state_folder):
            say("ready")
            return False
        time.sleep(0.02)
    raise Unavailable(f"the controller that holds {state_folder}/controller.lock does not answer")


def _answers(state_folder: Path) -> bool:
    try:
        sockets.connect(paths.socket_path(str(state_folder))).close()
    except OSError:
        return False
    return True


def _problems(state_folder: Path, *, with_database: bool) -> list[dict[str, str | None]]:
    """What would keep a controller from starting."""
    checks: list[tuple[str, Callable[[], object]]] = [("config", lambda: read_config(Path(paths.config_path())))]
    if with_database:
        checks.append(("database", lambda: inspect(state_folder / "tarmac.db")))
    found: list[dict[str, str | None]] = []
    for name, check in checks:
        try:
            check()
        except Refused as refused:
            words = refusal(refused)
            found.append({"check": name, "text": words.message, "advice": words.hint})
        except TarmacError as error:
            found.append({"check": name, "text": error.message, "advice": error.hint})
        except OSError as error:
            found.append({"check": name, "text": str(error), "advice": None})
    return found


class _Ready:
    """The pipe on which the starting process waits for one line; without one, the terminal."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.has_reader = descriptor is not None

    def __call__(self, line: str) -> None:
        if self._descriptor is not None:
            with suppress(BrokenPipeError):  # the starting process was interrupted
                os.write(self._descriptor, f"{line}\n".encode())
            os.close(self._descriptor)
            self._descriptor = None
        elif line != "ready":
            print(f"tarmac: {line}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tarmac.controller")
    parser.add_argument("--state", default=None)
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--check-config", action="store_true", help="print what is wrong with it, as JSON, and exit")
    parser.add_argument("--check-all", action="store_true", help="the same for the config file and the database")
    return parser.parse_args()
