"""`tarmac node login`: log in to a node that wants a password or a second factor, for as long as the host allows."""

from __future__ import annotations

from tarmac.cli.args.node_names import node_of
from tarmac.cli.parser import Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(_: Values, words: list[str]) -> int:
    from tarmac.cli.term import ssh
    from tarmac.client.remote.address import Address

    name = node_of("node login", words)
    client = connect()
    node = client.try_node(name)
    assert node["host"] is not None, "only nodes over SSH can be tried"
    ssh.log_in(Address(node["host"], node["user"], node["port"]))
    client.try_node(name)
    say(f"logged in to {node['host']}; {name} joins in a moment")
    return 0


VERB = Verb(
    "node login",
    "log in to a node that wants a password or a second factor",
    usage=("tarmac node login NAME",),
    run=run,
    examples=(("tarmac node login gpu04", "ssh asks in this terminal; the controller shares the connection"),),
    notes=(
        "Tarmac stores no password and no key.",
        "When the host ends the connection, the node needs another log-in; its jobs continue.",
    ),
)
