"""The ids that records refer to each other by."""

from __future__ import annotations

from typing import NewType

JobId = NewType("JobId", int)


NodeName = NewType("NodeName", str)


GpuUuid = NewType("GpuUuid", str)
