from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clock.shifted import clock_library, shifted_clock
from tests.faults.world import World, compile_witness
from tests.home import Home
from tests.services import need

__all__ = ["clock_library", "contained", "shifted_clock", "witness", "world"]


@pytest.fixture(scope="session")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("gcc")
    return compile_witness(tmp_path_factory.mktemp("witness"))


@pytest.fixture
def world(tmp_path: Path, witness: Path) -> Iterator[World]:
    """Four simulated GPUs and jobs that write to a witness file; removed afterwards."""
    world = World(Home(tmp_path / "home", "4"), witness)
    yield world
    world.end()


@pytest.fixture(params=["cgroup", "scan"])
def contained(request: pytest.FixtureRequest, world: World) -> World:
    """Under both kinds of containment."""
    if request.param == "scan":
        world.home.environment["TARMAC_CONTAINMENT"] = "scan"
    world.wake()
    return world
