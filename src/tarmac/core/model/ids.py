"""Types of the ids that records use to refer to each other."""

from __future__ import annotations

from typing import NewType

JobId = NewType("JobId", int)
LARGEST_ID = 2**53  # JavaScript has no larger whole numbers


NodeName = NewType("NodeName", str)


GpuUuid = NewType("GpuUuid", str)
