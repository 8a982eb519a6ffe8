"""Whatever can be typed, set or called is documented."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tarmac.cli import VERBS, verb_named
from tarmac.controller.config import Config
from tests.home import Home

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_every_option_is_on_the_page_of_the_command_line(verb: str):
    text = page("cli.md")
    assert f"tarmac {verb}" in text
    for option in verb_named(verb).options:
        assert re.search(rf"`[^`\n]*{option.long}\b", text), f"tarmac {verb} {option.long} is not documented"


@pytest.mark.parametrize("setting", [field.name for field in fields(Config)])
def test_every_setting_is_documented(setting: str):
    assert f"| `{setting}` |" in page("configuration.md")


def test_no_setting_is_documented_that_does_not_exist():
    section = page("configuration.md").split("## Environment variables")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == [field.name for field in fields(Config)]


def test_every_route_is_documented_and_no_other(home: Home):
    schema = home.client().call("GET", "/openapi.json")
    served = {
        f"{method.upper()} {re.sub(r'{[^}]*}', '{id}', path.removeprefix('/api/v1'))}"
        for path, methods in schema["paths"].items()
        for method in methods
    }
    documented = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`?]+)`", page("api.md"), re.MULTILINE)
    assert set(documented) == served | {"GET /openapi.json"}


def test_links_between_pages_lead_somewhere():
    pages = [DOCS.parent / "README.md", *DOCS.glob("**/*.md")]
    for source in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", source.read_text(encoding="utf-8")):
            assert (source.parent / target).exists(), f"{source.name} points to {target}"
