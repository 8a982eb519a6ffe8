"""Fixtures for tests with real agents."""

from tests.agent.gpus.machine import machine
from tests.agent_peer import peer, site
from tests.nvml.standin import nvml_library, standin

__all__ = ["machine", "nvml_library", "peer", "site", "standin"]
