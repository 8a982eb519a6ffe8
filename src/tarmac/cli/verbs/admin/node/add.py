"""`tarmac node add`: add a machine to the queue. Its agent is sent there over SSH."""

from __future__ import annotations

from time import monotonic, sleep

from tarmac.cli.args.node_names import node_of
from tarmac.cli.args.node_options import ADDRESS, ENVIRONMENT, PORT, USER, host_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out_json, say
from tarmac.errors import TarmacError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import Node

FIRST_READING_S = 15.0


def run(values: Values, words: list[str]) -> int:
    user, host = host_of(node_of("node add", words))
    user, client = values["user"] or user, connect()
    name = values["name"] or host

    def add() -> Node:
        return client.add_node(
            name,
            host,
            user=user,
            port=values["port"] or None,
            address=values["address"],
            watch_only=values["watch_only"],
            environment=dict(values["env"] or ()),
            later=values["later"],
        )

    added = _with_help(add, host, user, values)
    for warning in added["warnings"]:
        err(f"tarmac: {warning}\n")
    if values["json"]:
        out_json(dict(added))
    else:
        say(_welcome(client, name, watch_only=values["watch_only"], later=values["later"]))
    return 0


def _with_help(add: Callable[[], Node], host: str, user: str | None, values: Values) -> Node:
    """Add the node. If a host key or a log-in is missing, let `ssh` ask about it, and try again."""
    from tarmac.cli.term import ssh
    from tarmac.client.remote.address import Address

    target = Address(host, user, values["port"] or None)
    if values["accept_new"] and not values["later"]:
        ssh.learn_host_key(target, accept_new=True)
    asked: set[str] = set()
    while True:
        try:
            return add()
        except TarmacError as error:
            if not ssh.can_ask() or error.key in asked or error.key not in HELPED:
                raise
            asked.add(error.key)
            if error.key == "node.failed.login":
                say(f"{host} asks for a password or a second factor; log in:")
                ssh.log_in(target)
            else:
                ssh.learn_host_key(target, accept_new=False)


HELPED = ("node.failed.host_key_unknown", "node.failed.login")


def _welcome(client: Client, name: str, *, watch_only: bool, later: bool) -> str:
    if later:
        return f"{name} was added; it joins when it can be reached"
    deadline = monotonic() + FIRST_READING_S
    while not (gpus := [gpu for gpu in client.gpus() if gpu.node == name]) and monotonic() < deadline:
        sleep(0.1)
    models = ", ".join(sorted({gpu.model for gpu in gpus}))
    count = f"{len(gpus)} GPU{'' if len(gpus) == 1 else 's'}{f' ({models})' if models else ''}"
    use = "its GPUs are shown, but no jobs start there" if watch_only else "jobs may start there now"
    return f"{name} was added: {count}; {use}"


VERB = Verb(
    "node add",
    "add a machine to the queue; it needs only sshd and Python 3.8",
    usage=("tarmac node add [USER@]HOST [options]",),
    run=run,
    options=(
        Option("--name", None, "its name in Tarmac, if it is not the host", "NAME"),
        USER,
        PORT,
        ADDRESS,
        Option("--watch-only", None, "show its GPUs, but start no jobs there"),
        ENVIRONMENT,
        Option("--accept-new", None, "accept a host key that is not known yet, for scripts"),
        Option("--later", None, "add it although it cannot be reached now"),
        JSON,
    ),
    examples=(
        ("tarmac node add gpu02", "HOST is as for `ssh`: a name, an address, or an alias of your ssh config"),
        ("tarmac node add alice@gpu03 --port 2222", "with another account and port"),
        ("tarmac node add 10.0.0.7 --name gpu07 --accept-new", "in a script"),
        ("tarmac node add gpu08 --watch-only", "see its GPUs in `tarmac gpus`"),
    ),
    notes=(
        "The agent is sent over your own `ssh`, which uses your keys and your config. Nothing is installed there.",
        "Jobs run as the account that `ssh` logs in to. Their directory must exist there.",
    ),
)
