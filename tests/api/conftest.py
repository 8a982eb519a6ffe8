from collections.abc import Iterator

import pytest

from tests.api.served import Served
from tests.home import Home


@pytest.fixture(scope="module")
def api(shared_home: Home) -> Served:
    """One controller with two GPUs for a whole file; tests look at their own jobs only."""
    return Served(shared_home)


@pytest.fixture(autouse=True)
def _no_leftovers(api: Served) -> Iterator[None]:
    yield
    api.close()
    api.client.kill("all", grace_s=0)
    api.client.wait("all", timeout_s=60)
