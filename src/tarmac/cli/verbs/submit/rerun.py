"""`tarmac rerun`: run jobs again, each as a new job that is linked to the old one."""

from __future__ import annotations

from tarmac.cli.args.edit_options import edit_options
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err
from tarmac.cli.verbs.submit.clone import CODE, ENTRY, copies, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import PackageChange

MOST_COMPARED = 20  # jobs whose Python environment is compared with today's


def run(values: Values, words: list[str]) -> int:
    client = connect()
    ids = copies(client, "rerun", words, values, rerun=True)
    code = report(values, ids)
    _warn_of_changes(client, ids[:MOST_COMPARED])
    return code


def _warn_of_changes(client: Client, ids: Sequence[int]) -> None:
    """Say how the Python environment differs from that of the original jobs. Equal changes are listed once."""
    from tarmac.cli.render.show.environment import warning

    found: dict[str, tuple[list[int], list[PackageChange]]] = {}
    for number in ids:
        original = client.job(number).rerun_of
        changes = client.python_changes(number)
        if changes and original is not None:
            found.setdefault(repr(changes), ([], changes))[0].append(original)
    for jobs, changes in found.values():
        err(warning(jobs, changes))


VERB = Verb(
    "rerun",
    "run jobs again, as new jobs that are linked to the old ones",
    usage=("tarmac rerun ID… [options]",),
    run=run,
    options=(*edit_options(), *CODE, *ENTRY, *FILTERS[2:], JSON),
    examples=(
        ("tarmac rerun 7", "the same job again, under a new id; prints the id"),
        ("tarmac rerun 7 --log second.log", "with another output file"),
        ("tarmac rerun 7 --snapshot", "with the code as it is now in its directory"),
    ),
    notes=(
        IDS_NOTE,
        "The new job runs the snapshot of the old one, unless --snapshot or --no-snapshot is given.",
        "If Python or a package changed since the job ran, a warning says what.",
        "`tarmac show` names the job that was repeated. `tarmac retry` runs a job again under its old id instead.",
    ),
)
