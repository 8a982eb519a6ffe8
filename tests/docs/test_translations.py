"""A translated page says what the original says: the same sections, examples, commands and links."""

import re
from pathlib import Path

import pytest

from tests.docs.console import examples

ROOT = Path(__file__).parents[2]
TRANSLATED = {ROOT / "README.zh.md": ROOT / "README.md"} | {
    page: ROOT / "docs" / page.name for page in sorted((ROOT / "docs" / "zh").glob("*.md"))
}
COMMAND = re.compile(r"`((?:tarmac|make|pip) [^`]+)`")
LINK = re.compile(r"\]\(([^)]+\.md)\)")


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_translation_has_what_the_original_has(page: Path) -> None:
    original = TRANSLATED[page]
    text, source = page.read_text(encoding="utf-8"), original.read_text(encoding="utf-8")
    assert text.count("\n## ") == source.count("\n## "), f"translate the sections of {original.name} that are missing"
    assert not sorted(set(COMMAND.findall(source)) - set(COMMAND.findall(text)))
    shown = [(one.command, one.promised) for one in examples(page)]
    assert [one for one in ((one.command, one.promised) for one in examples(original)) if one not in shown] == []


@pytest.mark.parametrize("page", TRANSLATED, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_translation_and_its_original_link_to_each_other(page: Path) -> None:
    original = TRANSLATED[page]
    first = {one: one.read_text(encoding="utf-8").split("\n\n")[1] for one in (page, original)}
    targets = {one: [(one.parent / target).resolve() for target in LINK.findall(line)] for one, line in first.items()}
    assert page in targets[original]
    assert original in targets[page]
