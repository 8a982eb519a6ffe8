"""`tarmac backup`: copy the queue to one file, while the controller runs or not."""

from __future__ import annotations

import os
from contextlib import suppress

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json
from tarmac.errors import UserError
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    from tarmac.cli.files.backup_process import run_backup
    from tarmac.cli.files.new_file import new_file

    if len(words) != 1:
        raise UserError("backup: give one file", "tarmac backup tarmac-backup.tar")
    path = words[0]
    if path == "-":
        raise UserError("backup: it cannot be written to standard output", "give a file: `tarmac backup tarmac.tar`")
    options = [f"--with-{name}" for name in ("logs", "snapshots") if values[f"with_{name}"]]
    with new_file("backup", path) as new:
        try:
            about = run_backup("create", new.path, connect(start=False).state, *options)
        finally:
            for suffix in (".db", ".db-journal"):  # of a process that was killed
                with suppress(FileNotFoundError):
                    os.unlink(f"{new.path}{suffix}")
    taken = os.stat(path).st_size
    if values["json"]:
        out_json({"file": path, "bytes": taken, "jobs": about["jobs"], "live": about["live"]})
    else:
        err(f"saved {counted(about['jobs'], 'job')}, {about['live']:,} of them not ended: {path}, {size(taken)}\n")
    err(f"tarmac: {path} contains secrets, such as tokens of jobs; only you can read it\n")
    return 0


VERB = Verb(
    "backup",
    "copy the queue to one file",
    usage=("tarmac backup FILE [options]",),
    run=run,
    options=(
        Option("--with-logs", None, "also the logs in Tarmac's directory"),
        Option("--with-snapshots", None, "also the code that --snapshot stored"),
        JSON,
    ),
    examples=(("tarmac backup /backup/tarmac-$(date +%F).tar", "a file per day, from cron"),),
    notes=(
        "The file contains all jobs, settings, secrets and the config file. Only you can read it. Keep it private.",
        "It is the state of one moment. Jobs can be submitted, start and end meanwhile.",
        "`tarmac restore` reads it. To copy ended jobs alone, use `tarmac export`.",
    ),
)
