"""`tarmac stop`: stop the controller and the agent, and return when they have ended. Running jobs continue.

It does not wait for an agent that still has jobs to stop; the agent ends when they have ended.
"""

from __future__ import annotations

import os

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.client.transport import NoController
from tarmac.errors import ConnectionLost, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import Status

GONE_WITHIN_S = 30


def run(values: Values, _: list[str]) -> int:
    client = connect(start=False)
    try:
        status = _status(client)
    except NoController:
        _report(values, was_running=False)
        return 0
    ending = {"controller": _opened(status["controller_pid"])}
    if not values["keep_agent"]:
        ending["agent"] = _opened(status["agent_pid"])
    client.start = True
    stopping = client.stop(agent=not values["keep_agent"])
    is_frozen = not values["keep_agent"] and status["agent_pid"] and not status["agent_answers"]
    for name, process in ending.items():
        if process is not None and not (name == "agent" and (stopping or is_frozen)):
            _wait_for_end(name, process)
    if is_frozen:
        pid = status["agent_pid"]
        raise Unavailable(
            f"the controller has stopped, but the agent (pid {pid}) does not answer; it ends once it does",
            f"run `kill -CONT {pid}` if it was stopped, or `kill -9 {pid}`; running jobs continue",
        )
    _report(values, was_running=True, running=max(0, status["running"] - stopping), stopping=stopping)
    return 0


def stop_controller(client: Client) -> bool:
    """Stop only the controller, and wait for its end. False if none was running."""
    try:
        process = _opened(_status(client)["controller_pid"])
    except NoController:
        return False
    client.start = True
    client.stop(agent=False)
    client.start = False
    if process is not None:
        _wait_for_end("controller", process)
    return True


def _report(values: Values, *, was_running: bool, running: int = 0, stopping: int = 0) -> None:
    if values["json"]:
        out_json({"was_running": was_running, "running": running, "stopping": stopping})
    elif not was_running:
        say("no controller is running")
    else:
        say(f"stopped{_left(running, stopping)}. The next `tarmac` command starts it again")


def _status(client: Client) -> Status:
    """Raises NoController if none is running. If one dies before it answers, another must end the agent."""
    client.repeats = False
    try:
        return client.status()
    except ConnectionLost:
        client.start = True
        return client.status()
    finally:
        client.repeats = True


def _left(running: int, stopping: int) -> str:
    go_on = f"; {counted(running, 'job')} {'continues' if running == 1 else 'continue'}" if running > 0 else ""
    end = f"; {counted(stopping, 'job')} {'is' if stopping == 1 else 'are'} still being stopped" if stopping else ""
    return go_on + end


def _opened(pid: int | None) -> int | None:
    """A pidfd, opened before the process is asked to end: its pid may be reused afterwards."""
    try:
        return None if pid is None else os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _wait_for_end(name: str, process: int) -> None:
    from select import POLLIN, poll

    waiting = poll()
    waiting.register(process, POLLIN)
    if not waiting.poll(GONE_WITHIN_S * 1000):
        raise Unavailable(f"the {name} has not ended within {GONE_WITHIN_S} s", f"see `tarmac log {name}`")


VERB = Verb(
    "stop",
    "stop the controller and the agent; running jobs continue",
    usage=("tarmac stop [options]",),
    run=run,
    takes_words=False,
    options=(Option("--keep-agent", None, "stop only the controller"), JSON),
    examples=(("tarmac stop", "before an upgrade; jobs are neither lost nor killed"),),
    notes=(
        "Waiting jobs stay queued; the next `tarmac` command starts the controller again.",
        "The agent stays until jobs that are being stopped have ended; this command does not wait for that.",
    ),
)
