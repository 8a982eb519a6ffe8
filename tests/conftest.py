from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import Served
from tests.home import Home, homes

SLOWEST = ("tests/e2e/test_example_resume.py", "tests/faults/test_random_kills.py")  # few tests that take minutes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest files, then those with the most tests, so that no worker is busy long after the others."""
    counts = Counter(_file(item) for item in items)
    items.sort(key=lambda item: (_file(item) not in SLOWEST, -counts[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


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
