"""Every file that ARCHITECTURE.md and the decisions mention exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]
MENTION = re.compile(r"`((?:src/|tests/)?[a-z_]+/[a-z_/.]*[a-z_/])`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_it_mentions_exists(page: Path) -> None:
    mentions = MENTION.findall(page.read_text(encoding="utf-8"))
    missing = [name for name in mentions if not any((base / name).exists() for base in (ROOT, ROOT / "src" / "tarmac"))]
    assert not missing


def test_the_tree_names_every_package() -> None:
    tree = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("```")[1]
    packages = {path.parent.name for path in (ROOT / "src" / "tarmac").glob("*/__init__.py")}
    assert set(re.findall(r"^  ([a-z]+)/", tree, re.MULTILINE)) == packages
