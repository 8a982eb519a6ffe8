"""Homes with the GPUs of the stand-in driver instead of simulated ones."""

from collections.abc import Iterator
from pathlib import Path

from tests.home import Home, homes
from tests.nvml.standin import Standin


def driven_homes(path: Path, standin: Standin) -> Iterator[Home]:
    """For a fixture. The GPUs are read ten times a second."""
    for home in homes(path):
        del home.environment["TARMAC_FAKE_GPUS"]
        home.environment |= {**standin.env, "TARMAC_GPU_PACE_S": "0.1"}
        yield home
