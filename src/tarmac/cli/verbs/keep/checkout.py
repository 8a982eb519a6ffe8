"""`tarmac checkout`: write the code that a job runs into a directory."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.snapshots.diff.stored import check_out

    if len(words) != 2:
        raise UserError("checkout: expected a job and a directory", "write it as `tarmac checkout 7 ../job-7`")
    job, directory = words
    files = check_out(connect(), job, directory)
    if values["json"]:
        out_json({"files": files, "directory": directory})
    else:
        say(f"wrote {counted(files, 'file')} to {directory}")
    return 0


VERB = Verb(
    "checkout",
    "write the code of a job's snapshot into a directory",
    usage=("tarmac checkout ID DIR",),
    run=run,
    options=(JSON,),
    examples=(
        ("tarmac checkout 7 ../job-7", "the files as job 7 got them"),
        ("tarmac checkout last /tmp/last", "those of your newest job"),
    ),
    notes=(
        "The directory is created if it does not exist. Otherwise it must be empty.",
        "What the job itself wrote is in its own checkout, which `tarmac show` names.",
    ),
)
