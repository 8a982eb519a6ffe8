"""`tarmac node edit`: change how a node is reached, or what it is used for."""

from __future__ import annotations

from tarmac.cli.args.node_names import node_of
from tarmac.cli.args.node_options import ADDRESS, ENVIRONMENT, PORT, USER
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client.answers import NodeChanges

USES = {"run": False, "watch": True}


def run(values: Values, words: list[str]) -> int:
    name = node_of("node edit", words)
    changes: NodeChanges = {}
    if values["host"] is not None:
        changes["host"] = values["host"]
    for option in ("user", "port", "address"):
        if values[option] is not None:
            changes[option] = values[option] or None
    if values["use"] is not None:
        changes["watch_only"] = values["use"]
    if values["env"]:
        changes["environment"] = dict(values["env"])
    if not changes:
        raise UserError("node edit: nothing to change", "run `tarmac node edit --help` to see the options")
    changed = connect().change_node(name, **changes)
    for warning in changed["warnings"]:
        err(f"tarmac: {warning}\n")
    if values["json"]:
        out_json(dict(changed))
    else:
        say(f"{name} was changed")
    return 0


def _use(word: str) -> bool:
    if word not in USES:
        raise ValueError("it must be run or watch")
    return USES[word]


VERB = Verb(
    "node edit",
    "change how a node is reached, or what it is used for",
    usage=("tarmac node edit NAME [options]",),
    run=run,
    options=(
        Option("--host", None, "the host, as for `ssh`", "HOST"),
        USER,
        PORT,
        ADDRESS,
        Option("--use", None, "run: start jobs there; watch: only show its GPUs", "run|watch", _use),
        ENVIRONMENT,
        JSON,
    ),
    examples=(
        ("tarmac node edit gpu02 --host gpu02.example.org", "it moved; its jobs go on"),
        ("tarmac node edit gpu02 --user ''", "the account of the ssh config again"),
        ("tarmac node edit gpu08 --use run", "start jobs on a node that was watched only"),
    ),
    notes=("Running jobs are not affected. `--env` replaces all variables; they count when the agent starts again.",),
)
