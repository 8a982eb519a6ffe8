"""Further nodes, as the config file lists them: `[[nodes]]` with a name, a kind and what that kind needs.

`kind = "local"` is another agent on this machine, with its own state directory: for trials and tests of several nodes.
The home node, the controller's own machine, is always there and is not listed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta

from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

NODES = "nodes"  # the key in the config file
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"  # no colon: NODE:INDEX names a GPU


class LocalNodeEntry(msgspec.Struct, kw_only=True, tag_field="kind", tag="local", forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern=NAME, max_length=64)]
    state: str  # its agent's state directory, an absolute path
    environment: dict[str, str] = {}  # of its agent, such as TARMAC_FAKE_GPUS


def read_nodes(path: Path, value: Any) -> list[LocalNodeEntry]:
    """`path` is the config file's, for the message."""
    try:
        nodes = msgspec.convert(value, list[LocalNodeEntry])
    except msgspec.ValidationError as error:
        problem = re.sub(r" - at `\$(.*)`$", r", in nodes\1", str(error))
        raise invalid("config.nodes_invalid", path=path, problem=problem) from error
    for node in nodes:
        if not Path(node.state).is_absolute():
            raise invalid("config.node_state_relative", path=path, node=node.name, state=node.state)
    states = [os.path.realpath(node.state) for node in nodes]  # two paths to one agent would book its GPUs twice
    for what, given in (("name", [node.name for node in nodes]), ("state", states)):
        if (repeated := _first_repeated(given)) is not None:
            raise invalid("config.nodes_repeated", path=path, what=what, value=repeated)
    return nodes


def _first_repeated(values: Sequence[str]) -> str | None:
    return next((value for number, value in enumerate(values) if value in values[:number]), None)
