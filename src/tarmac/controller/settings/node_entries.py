"""Further nodes, as the config file lists them: `[[nodes]]` with a name, a kind and what that kind needs.

`kind = "local"` is another agent on this machine, with its own state directory: for trials and tests of several nodes.
The home node, the controller's own machine, is always there and is not listed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarmac.records import dataclass
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

NODES = "nodes"  # the key in the config file
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # no colon: NODE:INDEX names a GPU
KINDS = ("local",)
REQUIRED = {"kind": "local", "name": "second", "state": "/path"}  # with an example of each, for messages


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNodeEntry:
    name: str
    state: str  # its agent's state directory, an absolute path
    environment: dict[str, str]  # of its agent, such as TARMAC_FAKE_GPUS
    watch_only: bool = False  # its GPUs are shown, and no job starts there


def read_nodes(path: Path, value: Any) -> list[LocalNodeEntry]:
    """`path` is the config file's, for the message."""
    if not isinstance(value, list) or not all(isinstance(given, dict) for given in value):
        raise invalid("config.nodes_not_a_list", path=path)
    nodes = [_entry(path, number, given) for number, given in enumerate(value)]
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


def _entry(path: Path, number: int, given: dict[str, Any]) -> LocalNodeEntry:
    for key, example in REQUIRED.items():
        if key not in given:
            raise invalid("config.node_key_missing", path=path, number=number, key=key, example=example)
        if not isinstance(given[key], str):
            raise invalid("config.node_key_not_text", path=path, number=number, key=key, example=example)
        if key == "kind" and given[key] not in KINDS:
            raise invalid("config.node_kind_unknown", path=path, number=number, kind=given[key], known=KINDS)
    if not NAME.fullmatch(given["name"]):
        raise invalid("config.node_name_invalid", path=path, number=number, name=given["name"])
    known = [*REQUIRED, "environment", "watch_only"]
    if unknown := [key for key in given if key not in known]:
        raise invalid("config.node_key_unknown", path=path, number=number, key=unknown[0], known=known)
    environment = given.get("environment", {})
    if not isinstance(environment, dict) or not all(isinstance(text, str) for text in environment.values()):
        raise invalid("config.node_environment_invalid", path=path, number=number)
    watch_only = given.get("watch_only", False)
    if not isinstance(watch_only, bool):
        raise invalid("config.node_watch_only_invalid", path=path, number=number)
    return LocalNodeEntry(name=given["name"], state=given["state"], environment=environment, watch_only=watch_only)
