"""`tarmac metrics`: the metrics in the text format of Prometheus.

It never starts a controller: a timer that runs it must not undo `tarmac stop`.
"""

from __future__ import annotations

import os

from tarmac.cli.parser import Option, Verb, shown
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

READABLE = 0o644


def run(values: Values, _: list[str]) -> int:
    text = connect(start=False).metrics()
    if values["output"] is None:
        out(text)
    else:
        _replace(values["output"], text)
    return 0


def _replace(path: str, text: str) -> None:
    """A reader sees the old or the new metrics, never a part. node_exporter runs as another user."""
    unfinished = f"{path}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, READABLE)
        os.fchmod(descriptor, READABLE)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(unfinished, path)
    except OSError as error:
        if os.path.lexists(unfinished):
            os.unlink(unfinished)
        raise UserError(
            f"cannot write {shown(path)}: {error.strerror}", "name a file in a directory you can write"
        ) from None


VERB = Verb(
    "metrics",
    "print metrics for Prometheus",
    usage=("tarmac metrics [options]",),
    run=run,
    options=(Option("--output", "-o", "write them to this file atomically, for node_exporter", "FILE"),),
    examples=(
        ("tarmac metrics | grep tarmac_jobs", "jobs by owner and state"),
        ("tarmac metrics -o /var/lib/node_exporter/textfile/tarmac.prom", "for node_exporter; run it every minute"),
    ),
    notes=(
        "The API serves the same text at `/metrics`.",
        "`tarmac metrics` never starts a controller; it exits with 5 if none is running.",
    ),
    takes_words=False,
)
