"""Why a link to a node failed, as a refusal: for the person who adds the node, and for everyone who looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.nodes.link_watch import WentQuiet
from tarmac.nodes.ssh.failure import LinkFailed
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from tarmac.refusal import Refused


def refused_link(failure: OSError, host: str) -> Refused:
    if isinstance(failure, WentQuiet):
        return invalid("node.failed.quiet", host=host)
    if not isinstance(failure, LinkFailed):
        return invalid("node.failed.node", host=host, said=str(failure))
    return _of_ssh(failure, host) or _of_node(failure, host)


def _of_ssh(failure: LinkFailed, host: str) -> Refused | None:
    """The connection did not come about."""
    match failure.kind:
        case "login":
            return invalid("node.failed.login", host=host, said=failure.said)
        case "host-key-unknown":
            return invalid("node.failed.host_key_unknown", host=host, said=failure.said)
        case "host-key-changed":
            return invalid("node.failed.host_key_changed", host=host, said=failure.said)
        case "unreachable":
            return invalid("node.failed.unreachable", host=host, said=failure.said)
        case "no-ssh":
            return invalid("node.failed.no_ssh")
        case _:
            return None


def _of_node(failure: LinkFailed, host: str) -> Refused:
    """The host was reached."""
    match failure.kind:
        case "silent":
            return invalid("node.failed.silent", host=host, said=failure.said)
        case "ended":
            return invalid("node.failed.ended", host=host, said=failure.said)
        case "stuck":
            return invalid("node.failed.stuck", host=host, said=failure.said)
        case "same-machine":
            return invalid("node.failed.same_machine", host=host, other=failure.said)
        case "no-python":
            return invalid("node.failed.no_python", host=host, said=failure.said)
        case _:
            return invalid("node.failed.node", host=host, said=failure.said)
