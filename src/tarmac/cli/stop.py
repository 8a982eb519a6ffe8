"""`tarmac stop`: end the controller and the agent, and return when they are gone. Running jobs go on."""

from __future__ import annotations

import os
from time import monotonic, sleep

from tarmac.cli.grammar import Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.terminal import say
from tarmac.cli.text import counted
from tarmac.errors import ConnectionLost, Unavailable
from tarmac.transport import NoController

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.grammar import Values

GONE_WITHIN_S = 30


def run(values: Values, _: list[str]) -> int:
    client = connect(start=False)
    with_agent = not values["keep_agent"]
    try:
        running = client.status()["running"]
        client.stop(agent=with_agent)
    except NoController:
        say("no controller is running")
        return 0
    except ConnectionLost:
        running = 0  # it was already on its way out
    wait_for_release(os.path.join(client.state, "controller.lock"))
    if with_agent:
        wait_for_release(os.path.join(client.state, "agent", "agent.lock"))
    go_on = f"; {counted(running, 'job')} {'goes' if running == 1 else 'go'} on" if running else ""
    say(f"stopped{go_on}. The next `tarmac` command starts it again")
    return 0


def wait_for_release(lock: str) -> None:
    """A lock that is held belongs to a process that is still there."""
    until = monotonic() + GONE_WITHIN_S
    while is_held(lock):
        if monotonic() > until:
            raise Unavailable(f"{lock} is still held after {GONE_WITHIN_S} s", "`tarmac log controller` says more")
        sleep(0.01)


def is_held(lock: str) -> bool:
    from fcntl import LOCK_NB, LOCK_SH, flock

    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


VERB = Verb(
    "stop",
    "end the controller and the agent; running jobs go on",
    usage=("tarmac stop [--keep-agent]",),
    run=run,
    takes_words=False,
    options=(Option("--keep-agent", None, "end the controller alone"),),
    examples=(("tarmac stop", "before an upgrade; nothing is lost, nothing is killed"),),
    notes=("Waiting jobs stay queued; the next `tarmac` command starts the controller again.",),
)
