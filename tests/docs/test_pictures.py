"""The pictures of the documentation: `make screenshots` takes those that it names."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs/images"
MOST_BYTES = 6 << 20


def test_every_picture_is_there_and_is_shown() -> None:
    texts = [*ROOT.glob("README*.md"), *(ROOT / "docs").glob("*.md")]
    named = {name for file in texts for name in re.findall(r"images/([\w.-]+)", file.read_text(encoding="utf-8"))}
    assert named == {path.name for path in IMAGES.iterdir()}
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < MOST_BYTES
