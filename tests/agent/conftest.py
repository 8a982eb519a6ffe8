"""Fixtures for tests with real agents."""

from tests.agent.gpus.machine import machine
from tests.agent_peer import peer, site
from tests.clock.shifted import clock_library, shifted_clock
from tests.nvml.standin import nvml_library, standin

__all__ = ["clock_library", "machine", "nvml_library", "peer", "shifted_clock", "site", "standin"]
