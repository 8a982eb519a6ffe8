from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, homes


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A Tarmac of the test's own, with two simulated GPUs; gone without a trace afterwards."""
    yield from homes(tmp_path / "home")


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One for a whole file, where the tests do not mind each other's jobs."""
    yield from homes(tmp_path_factory.mktemp("shared") / "home")
