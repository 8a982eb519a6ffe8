"""`tarmac restore`: replace the queue with a backup; the old queue is kept."""

from __future__ import annotations

import os
from time import time

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.confirm import confirm
from tarmac.cli.term.terminal import err, out_json
from tarmac.cli.verbs.admin.stop import stop_controller
from tarmac.errors import Unavailable, UserError
from tarmac.shared.clocks import clock
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client

TRIES = 5
MOST_LISTED = 200  # characters


def run(values: Values, words: list[str]) -> int:
    from tarmac.cli.files.backup_process import run_backup

    if len(words) != 1:
        raise UserError("restore: give one file", "tarmac restore tarmac-backup.tar")
    _refuse_what_is_not_a_file(words[0])
    path, client = os.path.abspath(words[0]), connect(start=False)
    about = run_backup("examine", path, client.state)
    jobs, saved = counted(about["jobs"], "job"), clock(about["at"], time())
    if not values["json"]:
        err(f"the backup is from {saved}: {jobs}, {about['live']:,} of them not ended then\n")
    question = f"Replace the queue in {client.state}? The controller is stopped; running jobs continue."
    if not confirm("restore", question, yes=values["yes"]):
        err("nothing was changed\n")
        return 1
    done = _restored(client, path, ["--with-config"] if values["with_config"] else [])
    if values["json"]:
        out_json({"jobs": about["jobs"], **done})
    else:
        err("".join(f"{line}\n" for line in _report(done)))
    return 0


def _refuse_what_is_not_a_file(path: str) -> None:
    if not os.path.isfile(path):
        trouble = "is not a file" if os.path.lexists(path) else "does not exist"
        raise UserError(f"restore: {path} {trouble}", "give a file that `tarmac backup` wrote")


def _restored(client: Client, path: str, options: list[str]) -> dict[str, Any]:
    """Another command may start the controller again just before the files are replaced."""
    from tarmac.cli.files.backup_process import run_backup

    for tries_left in reversed(range(TRIES)):
        stop_controller(client)
        try:
            return run_backup("restore", path, client.state, *options)
        except Unavailable:
            if not tries_left or not stop_controller(client):
                raise
    raise AssertionError


def _report(done: dict[str, Any]) -> list[str]:
    lines = ["restored. The next `tarmac` command starts the controller"]
    if done["aside"] is not None:
        lines.append(f"the queue as it was before: {done['aside']}")
    if done["taken_over"]:
        be = "is as it was" if done["taken_over"] == 1 else "are as they were"
        lines.append(f"{counted(done['taken_over'], 'job')} ran since the backup, and {be} before")
    if done["left"]:
        be = "is" if len(done["left"]) == 1 else "are"
        jobs = counted(len(done["left"]), "job")
        lines.append(f"{jobs} submitted since then {be} only in the old queue: {_listed(done['left'])}")
    if done["held"]:
        be, them = ("is", "it") if done["held"] == 1 else ("are", "them")
        lines.append(
            f"{counted(done['held'], 'waiting job')} may have run since the backup, and {be} held: "
            f"`tarmac release ID…` queues {them}"
        )
    if done["config_replaced"]:
        lines.append("the config file was replaced as well")
    return lines


def _listed(jobs: list[int]) -> str:
    text = spans(jobs)
    return text if len(text) <= MOST_LISTED else f"{text[:MOST_LISTED].rpartition(',')[0]},…"


VERB = Verb(
    "restore",
    "replace the queue with a backup",
    usage=("tarmac restore FILE [options]",),
    run=run,
    options=(
        Option("--with-config", None, "also replace the config file"),
        Option("--yes", "-y", "don't ask"),
        JSON,
    ),
    examples=(("tarmac restore /backup/tarmac-2026-11-01.tar", "go back to that day"),),
    notes=(
        "The backup is checked completely before anything is changed. The old queue is kept beside it.",
        "No job runs a second time: jobs that ran since the backup keep their newer state.",
        "Where that is not known, waiting jobs are held. Ids that were given since are not given again.",
    ),
)
