from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import Served
from tests.home import Home, homes

# About how many seconds one test takes, by the beginning of its path; the first that matches counts.
SECONDS = {
    "tests/e2e/test_example_resume": 200,
    "tests/e2e/test_notif": 4,
    "tests/e2e": 1.5,
    "tests/faults/test_notifications": 12,
    "tests/faults/test_random_kills": 15,
    "tests/faults": 3,
    "tests/page/test_long_queue": 60,
    "tests/page/test_files": 0.1,
    "tests/page": 5,
    "tests/docs/test_": 5,
    "tests/core/test_histories": 25,
    "tests/core/test_properties": 15,
    "tests/core/policy/plans/test_plan_properties": 6,
    "tests/core/policy": 0.5,
    "tests/controller/engine/test_unknown_runs": 8,
    "tests/cli/verbs/admin/test_doctor": 3,
    "tests/agent/run/test_": 2,
    "tests/agent": 0.7,
    "tests/ssh": 2,
    "tests/api/hostile": 1,
    "tests/api/routes": 0.3,
    "tests/api/wording": 0.01,
    "tests": 0.1,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is busy long after the others."""
    counts = Counter(_file(item) for item in items)
    costs = {name: count * _seconds(name) for name, count in counts.items()}
    items.sort(key=lambda item: -costs[_file(item)])


def _seconds(name: str) -> float:
    return next(seconds for beginning, seconds in SECONDS.items() if name.startswith(beginning))


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


@pytest.fixture
def swept_home(shared_home: Home) -> Iterator[Home]:
    """The home of the file, without jobs at the end of each test. Ids go on counting, and settings stay."""
    yield shared_home
    client = shared_home.client()
    client.kill("all", grace_s=0)
    client.wait("all", timeout_s=60)
    client.rm("all")


@pytest.fixture(scope="module")
def served_home(shared_home: Home) -> Served:
    """One controller with two GPUs for a whole file."""
    return Served(shared_home)


@pytest.fixture
def api(served_home: Served) -> Iterator[Served]:
    """The same controller for every test of a file. Each test's jobs are gone before the next one starts."""
    yield served_home
    served_home.close()
    client = served_home.client
    client.kill("all", grace_s=0)
    client.wait([job.id for job in client.jobs(state="active", fields=["id"])], timeout_s=60)
