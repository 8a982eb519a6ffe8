"""The clock that durations are measured with: seconds since boot, including the time the machine was suspended.

All processes of one boot share it, and nobody can set it. The wall clock can be set at any time, and that of another
machine may be wrong: use wall times for display only.
"""

from __future__ import annotations

import time
from typing import NamedTuple, Optional


class Moment(NamedTuple):
    """The same moment on both clocks of one machine. Records of older agents do not have the second."""

    at: float  # seconds since 1970
    boot_s: Optional[float] = None


def seconds() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def now() -> Moment:
    return Moment(time.time(), seconds())
