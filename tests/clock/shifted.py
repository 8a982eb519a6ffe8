"""A wall clock that a test can set, for the processes that get its environment. See shifted.c."""

import struct
import subprocess
from pathlib import Path

import pytest

from tests.services import need

HERE = Path(__file__).parent


class ShiftedClock:
    """`environment` makes a process and its children follow this clock."""

    def __init__(self, library: Path, path: Path) -> None:
        self._path = path
        self.environment = {"LD_PRELOAD": str(library), "TARMAC_SHIFTED_CLOCK": str(path)}
        path.touch()
        self.set(0)

    def set(self, seconds: int) -> None:
        """Show this many seconds more than the real clock, from now on."""
        with self._path.open("r+b") as file:
            file.write(struct.pack("=q", seconds))

    def suspend(self, seconds: int) -> None:
        """Act as if the machine had been suspended for this long: the monotonic clock stood still."""
        with self._path.open("r+b") as file:
            file.write(struct.pack("=qq", seconds, seconds))


@pytest.fixture(scope="session")
def clock_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("gcc")
    library = tmp_path_factory.mktemp("clock") / "shifted.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-pthread"]
    subprocess.run(["gcc", *flags, "-o", library, HERE / "shifted.c", "-ldl"], check=True)
    return library


@pytest.fixture
def shifted_clock(clock_library: Path, tmp_path: Path) -> ShiftedClock:
    return ShiftedClock(clock_library, tmp_path / "clock-shift")
