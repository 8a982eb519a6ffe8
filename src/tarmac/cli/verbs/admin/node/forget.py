"""`tarmac node forget`: tell Tarmac that a machine is gone for good, with everything that ran on it."""

from __future__ import annotations

from tarmac.cli.args.node_names import node_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    name = node_of("node forget", words)
    if not values["yes"]:
        raise UserError(
            f"node forget: jobs on {name} become unknown, and may be started again elsewhere",
            f"if {name} is gone for good, run `tarmac node forget {name} --yes`",
        )
    gone = connect().forget_node(name)
    if values["json"]:
        out_json(dict(gone))
        return 0
    jobs = gone["unknown_jobs"]
    of_jobs = f"; job{'s' if len(jobs) > 1 else ''} {spans(jobs)} became unknown" if jobs else ""
    say(f"{name} was forgotten{of_jobs}")
    return 0


VERB = Verb(
    "node forget",
    "remove a machine that is gone for good",
    usage=("tarmac node forget NAME --yes",),
    run=run,
    options=(Option("--yes", "-y", "yes, nothing runs there any longer"), JSON),
    examples=(("tarmac node forget gpu02 --yes", "its jobs become unknown, and their GPUs are free"),),
    notes=(
        "Only you can know this: a machine that cannot be reached usually still runs its jobs.",
        "Jobs with `--retry-on lost` run again elsewhere.",
    ),
)
