"""Every ```console example in the documentation is run, in a throw-away home, and must print what it promises."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.console import examples, keeps_promise
from tests.home import BIN, Home, homes
from tests.services import need

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"remote.md"}  # tests/ssh/test_docs.py has a server for it
PAGES = sorted(
    page
    for page in [*ROOT.glob("README*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/zh/*.md")]
    if page.name not in ELSEWHERE
)
PATIENCE_S = 60


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Home]:
    """What a reader of the page has: four simulated GPUs, and a directory with a train.py."""
    shutil.copy(ROOT / "examples" / "train.py", tmp_path)
    for home in homes(tmp_path / "home", "4x24G"):
        home.environment["PATH"] = f"{BIN}:{home.environment['PATH']}"
        home.environment["COLUMNS"] = "100"
        home.path.mkdir(mode=0o700, exist_ok=True)
        yield home


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_shows_what_really_happens(page: Path, reader: Home, tmp_path: Path):
    if any(example.command.startswith("curl ") for example in examples(page)):
        need("curl")
    for example in examples(page):
        printed = output_of(example.command, reader, tmp_path)
        promise = "\n".join(example.promised)
        assert keeps_promise(example.promised, printed), (
            f"{page.name} promises for `{example.command}`:\n{promise}\nbut it printed:\n{printed}"
        )


def output_of(command: str, reader: Home, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        env=reader.environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
    )
    return done.stdout
