from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import Served
from tests.home import Home, homes


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A Tarmac home for one test, with two simulated GPUs; removed afterwards."""
    yield from homes(tmp_path / "home")


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One home for a whole file, whose tests tolerate each other's jobs."""
    yield from homes(tmp_path_factory.mktemp("shared") / "home")


@pytest.fixture(scope="module")
def served_home(shared_home: Home) -> Served:
    """One controller with two GPUs for a whole file."""
    return Served(shared_home)


@pytest.fixture
def api(served_home: Served) -> Iterator[Served]:
    """The same controller for every test of a file. Each test's jobs are gone before the next one starts."""
    yield served_home
    served_home.close()
    served_home.client.kill("all", grace_s=0)
    served_home.client.wait("all", timeout_s=60)
