"""`tarmac node VERB`: the machines that jobs run on."""

from __future__ import annotations

from tarmac.cli.parser import Verb
from tarmac.cli.sub_verbs import run_sub_verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

VERBS = ("ls", "show", "add", "edit", "login", "drain", "resume", "rm", "forget")


def run(_: Values, words: list[str]) -> int:
    return run_sub_verb("node", VERBS, words, "`tarmac node ls` lists the nodes")


VERB = Verb(
    "node",
    "list, add, drain and remove the machines that jobs run on",
    usage=("tarmac node VERB …",),
    run=run,
    is_prefix=True,
    verbs=VERBS,
    examples=(
        ("tarmac node ls", "every node, and whether jobs may start there"),
        ("tarmac node add gpu02", "the next `tarmac add` may run there"),
        ("tarmac node drain gpu02 --reason 'new fans'", "start no more jobs there"),
        ("tarmac node resume gpu02", "use it again"),
        ("tarmac node login gpu04", "for a host with a second factor"),
    ),
    notes=("Nodes are reached with your own `ssh`. They need sshd and Python 3.8 or newer, nothing else.",),
)
