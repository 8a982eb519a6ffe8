"""What the probe is at, written into memory that the agent shares: by it the agent knows which GPU a call hangs on."""

from __future__ import annotations

import mmap
from struct import Struct
from typing import Any, Dict, NamedTuple, Optional, Tuple

_HEAD = Struct("=QH")
_BYTES = 512


class DriverSpot(NamedTuple):
    """A GPU, or with number None the driver of that make as a whole."""

    make: str
    number: Optional[int] = None
    uuid: Optional[str] = None

    def covers(self, gpu: Dict[str, Any]) -> bool:
        if self.make != gpu["make"]:
            return False
        return self.number is None or (self.uuid is not None and self.uuid in (gpu["uuid"], gpu["parent"]))


class Beat:
    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BYTES)
        self._count = 0

    def at(self, make: str = "", number: Optional[int] = None, uuid: Optional[str] = None) -> None:
        """Before a call that may hang; without a make: asleep."""
        words = f"{make} {'' if number is None else number} {uuid or ''}".encode("utf-8", "replace")[
            : _BYTES - _HEAD.size
        ]
        self._count += 1
        self._memory[: _HEAD.size + len(words)] = _HEAD.pack(self._count, len(words)) + words

    def read(self) -> Tuple[int, Optional[DriverSpot]]:
        """How often it moved, and where it is; None: asleep."""
        count, length = _HEAD.unpack_from(self._memory)
        words = self._memory[_HEAD.size : _HEAD.size + length].decode("utf-8", "replace")
        make, number, uuid = [*words.split(" "), "", ""][:3]
        return count, DriverSpot(make, int(number) if number.isdigit() else None, uuid or None) if make else None
