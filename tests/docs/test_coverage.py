"""Whatever can be typed, set or called is documented."""

import re
from pathlib import Path

import pytest

from tarmac.cli.main import VERBS, verb_named
from tarmac.controller.settings.config import LISTED
from tarmac.controller.settings.kinds import show
from tarmac.controller.settings.setting import Setting
from tarmac.controller.settings.table import SETTINGS
from tests.home import Home

DOCS = Path(__file__).parents[2] / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


EVERY_VERB = [name for verb in VERBS for name in (verb, *[f"{verb} {more}" for more in verb_named(verb).verbs])]


@pytest.mark.parametrize("verb", EVERY_VERB)
def test_every_verb_and_every_option_is_on_the_page_of_the_command_line(verb: str):
    text = page("cli.md")
    assert f"tarmac {verb}" in text
    for option in verb_named(verb).options:
        assert re.search(rf"`[^`\n]*{option.long}\b", text), f"tarmac {verb} {option.long} is not documented"


def test_every_setting_is_documented_with_its_default_and_meaning_and_no_other():
    section = page("configuration.md").split("## Environment variables")[0]
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \| (.*) \|$", section, re.MULTILINE)
    documented = {name: (default, meaning) for name, default, meaning in rows}
    assert documented == {
        name: (show(setting.kind, setting.default), setting.meaning + choices(setting))
        for name, setting in SETTINGS.items()
    }
    assert f"[[{LISTED}]]" in section


def test_every_route_is_documented_and_no_other(home: Home):
    schema = home.client().call("GET", "/openapi.json")
    served = {
        f"{method.upper()} {nameless(path.removeprefix('/api/v1'))}"
        for path, methods in schema["paths"].items()
        for method in methods
    }
    documented = re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`?]+)`", page("api.md"), re.MULTILINE)
    assert set(map(nameless, documented)) == served | {"GET /openapi.json"}


def choices(setting: Setting) -> str:
    return f" ({', '.join(f'`{choice}`' for choice in setting.choices)})" if setting.choices else ""


def nameless(path: str) -> str:
    return re.sub(r"{[^}]*}", "{}", path)


def test_links_between_pages_lead_somewhere():
    pages = [*DOCS.parent.glob("README*.md"), *DOCS.glob("**/*.md")]
    for source in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", source.read_text(encoding="utf-8")):
            assert (source.parent / target).exists(), f"{source.name} points to {target}"
