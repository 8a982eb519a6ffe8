"""Every class, function, event and field that the documentation names exists in the source."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tarmac.core.transitions import TRANSITIONS

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
PAGES = [ROOT / "ARCHITECTURE.md", *sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
QUOTED = re.compile(r"'([A-Za-z]+)'")  # in SQL
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"`([a-z_]+)\(([a-z_, ]*)\)`")
CLASS = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`")
NAME = re.compile(r"`([a-z]+(?:_[a-z0-9]+)+)`")


class Source(NamedTuple):
    """What the source defines and mentions, from one walk over it."""

    names: frozenset[str]  # and strings that could be one: message keys, settings and causes of transitions are strings
    signatures: dict[str, list[list[str]]]


@cache
def _source() -> Source:
    found = {path.stem for path in SOURCE}
    signatures: dict[str, list[list[str]]] = {}
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(node.name)
                if not isinstance(node, ast.ClassDef):
                    own = [one.arg for one in node.args.args if one.arg != "self"]
                    signatures.setdefault(node.name, []).append(own)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.arg | ast.keyword):
                found.add(node.arg or "")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update([node.value, *QUOTED.findall(node.value)])
    return Source(frozenset(found), signatures)


def prose(page: Path) -> str:
    return CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_name_exists(page: Path) -> None:
    text = prose(page)
    named = {*CLASS.findall(text), *NAME.findall(text)}
    assert not sorted(named - _source().names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_call_has_the_signature_of_a_function(page: Path) -> None:
    wrong = []
    for name, given in CALL.findall(prose(page)):
        parameters = [word.strip() for word in given.split(",") if word.strip()]
        known = _source().signatures.get(name)
        if not known or not any(parameters in ([], own) for own in known):
            wrong.append(f"{name}({given})")
    assert not wrong


@pytest.mark.parametrize("page", [PAGES[0]], ids=["ARCHITECTURE"])
def test_a_name_with_its_file_is_defined_there(page: Path) -> None:
    """`name` (`room/file.py`): a function that moved is a wrong signpost."""
    wrong = []
    for name, file in re.findall(r"`([A-Za-z_]+)`,? \(`([a-z_/]+\.py)`\)", prose(page)):
        source = (ROOT / "src" / "tarmac" / file).read_text(encoding="utf-8")
        if not re.search(rf"\b{name}\b", source):
            wrong.append(f"{name} in {file}")
    assert not wrong


def test_every_kind_of_a_jobs_history_is_documented() -> None:
    told = re.compile(r"tell\(state, job, \"([A-Za-z]+)\"")
    kinds = {kind for path in SOURCE for kind in told.findall(path.read_text(encoding="utf-8"))}
    assert "Warned" in kinds
    kinds |= {"JobSubmitted", *(cause for _, cause in TRANSITIONS)}
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert not sorted(kind for kind in kinds if f"`{kind}`" not in page)
