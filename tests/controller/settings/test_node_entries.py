"""Mistakes in `[[nodes]]` of the config file, and what is said about them."""

from pathlib import Path
from typing import Any

import pytest

from tarmac.api.wording.refusals import refusal
from tarmac.controller.settings.node_entries import LocalNodeEntry, read_nodes
from tarmac.refusal import Refused

GOOD = {"name": "second", "kind": "local", "state": "/x"}


def test_an_entry_is_read() -> None:
    given = [GOOD, {**GOOD, "name": "b", "state": "/y", "environment": {"A": "1"}}]
    assert read_nodes(Path("c.toml"), given) == [
        LocalNodeEntry(name="second", state="/x", environment={}),
        LocalNodeEntry(name="b", state="/y", environment={"A": "1"}),
    ]


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"name": "second"}, "nodes is not a list of tables", "write [[nodes]] with name"),
        (["second"], "nodes is not a list of tables", "write [[nodes]] with name"),
        ([{"kind": "local", "name": "a"}], "nodes[0] has no state", 'add state = "/path"'),
        ([GOOD, {"kind": "local", "state": "/x"}], "nodes[1] has no name", 'add name = "second"'),
        ([{"name": "a", "state": "/x"}], "nodes[0] has no kind", 'add kind = "local"'),
        ([{"name": "a", "kind": "ssh"}], "nodes[0] has an unknown kind ssh", "choose one of these: local"),
        ([{**GOOD, "name": 7}], "name of nodes[0] is not a string", 'write it in quotes: name = "second"'),
        ([{**GOOD, "name": "a:b"}], "'a:b' of nodes[0] is not a valid name", "use at most 64 letters"),
        ([{**GOOD, "host": "b"}], "nodes[0] has an unknown key host", "kind, name, state, environment"),
        ([{**GOOD, "environment": {"A": 1}}], "environment of nodes[0] is not a table of strings", "{ TARMAC_FAKE"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(given: Any, message: str, hint: str) -> None:
    with pytest.raises(Refused) as caught:
        read_nodes(Path("c.toml"), given)
    said = refusal(caught.value)
    assert said.message == f"c.toml: {message}"
    assert hint in (said.hint or "")
