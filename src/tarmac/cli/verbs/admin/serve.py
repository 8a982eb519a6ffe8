"""`tarmac serve`: run the controller in the foreground, for service managers and debugging."""

from __future__ import annotations

import os
import sys

from tarmac.cli.parser import Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err
from tarmac.client.transport import NoController
from tarmac.errors import Conflict
from tarmac.paths import make_private, moved_note
from tarmac.shared.own.environment import own_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(_: Values, __: list[str]) -> int:
    client = connect(start=False)
    client.patience_s = 0  # if it is just ending, this one takes its place
    try:
        pid = client.status()["controller_pid"]
        raise Conflict(
            f"a controller already serves {client.state} (pid {pid})", "run `tarmac stop` to stop it; jobs continue"
        )
    except NoController:
        pass
    note = moved_note()
    if note is not None:
        err(f"tarmac: {note}\n")
    make_private(client.state)
    command = [sys.executable, "-m", "tarmac.controller", "--state", client.state]
    os.execve(sys.executable, command, own_environment(os.environ))


VERB = Verb(
    "serve",
    "run the controller in the foreground",
    usage=("tarmac serve",),
    run=run,
    takes_words=False,
    examples=(("tarmac serve", "until Ctrl-C; running jobs continue"),),
    notes=("Usually not needed: the first command starts a controller in the background.",),
)
