from collections.abc import Iterator

import pytest

from tests.services import need
from tests.ssh.lab import Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A laptop without hosts yet: `lab.host("gpu01")` starts one. Everything is gone afterwards."""
    yield from labs()


@pytest.fixture(scope="module")
def shared_lab() -> Iterator[Lab]:
    """One lab for a whole file, whose tests tolerate each other's hosts."""
    yield from labs()


def labs() -> Iterator[Lab]:
    need("root")
    for name in ("ssh", "sshd", "python3"):
        need(name)
    need("ip")
    made = Lab()
    try:
        yield made
    finally:
        made.close()
