"""Real agents on a stand-in driver, a made-up sysfs tree, and processes they did not start."""

from tests.nvml.standin import nvml_library, standin
from tests.probes.machine import machine

__all__ = ["machine", "nvml_library", "standin"]
