"""What the probe is doing, in memory shared with the agent: it shows the agent which GPU a driver call hangs on."""

from __future__ import annotations

import mmap
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple, Optional, Union

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.shared.frames.to_controller import GpuState

_HEAD = Struct("=QH")
_BYTES = 512


class DriverSpot(NamedTuple):
    """A GPU, or with number None the driver of that make as a whole."""

    make: str
    number: Optional[int] = None  # its index
    uuid: Optional[str] = None

    def covers(self, gpu: Union[GpuState, ProbedGpu]) -> bool:
        if self.make != gpu["make"]:
            return False
        return self.number is None or (self.uuid is not None and self.uuid in (gpu["uuid"], gpu["parent"]))


class Pulse(NamedTuple):
    steps: int  # grows with every step of the probe
    spot: Optional[DriverSpot]  # None: asleep


class Heartbeat:
    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BYTES)
        self._count = 0

    def at(self, make: str = "", index: Optional[int] = None, uuid: Optional[str] = None) -> None:
        """Called before every driver call that may hang. Without a make: asleep."""
        words = f"{make} {'' if index is None else index} {uuid or ''}".encode("utf-8", "replace")[
            : _BYTES - _HEAD.size
        ]
        self._count += 1
        self._memory[: _HEAD.size + len(words)] = _HEAD.pack(self._count, len(words)) + words

    def read(self) -> Pulse:
        count, length = _HEAD.unpack_from(self._memory)
        words = self._memory[_HEAD.size : _HEAD.size + length].decode("utf-8", "replace")
        make, index, uuid = [*words.split(" "), "", ""][:3]
        return Pulse(count, DriverSpot(make, int(index) if index.isdigit() else None, uuid or None) if make else None)
