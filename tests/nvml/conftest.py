"""The stand-in driver, for the tests of this folder."""

from tests.nvml.standin import nvml_library, standin

__all__ = ["nvml_library", "standin"]
