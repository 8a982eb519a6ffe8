"""Xid: the NVIDIA driver's error reports about a GPU. Most are a program's fault, some the GPU's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from tarmac.agent.frames import XidFrame

# From NVIDIA's catalogue, those resolved by "reset or replace the GPU"; 13, 31, 43, 45, 94 … are a program's fault.
UNHEALTHY = {
    48: "a memory error that could not be corrected",
    61: "its microcontroller stopped",
    62: "its microcontroller halted",
    64: "a bad memory row could not be taken out of use",
    74: "an NVLink error",
    79: "fell off the bus",
    95: "a memory error that spread to other programs",
    119: "its system processor does not answer",
    120: "its system processor failed",
    140: "memory errors that could not be corrected",
    143: "it did not start",
}
_AT_MOST = 100  # per reading: a GPU that floods must not delay the others


def describe(number: int) -> Optional[str]:
    """None when the GPU is not to blame."""
    return f"Xid {number}: {UNHEALTHY[number]}" if number in UNHEALTHY else None


class XidWatch:
    """The events of one NVML session; none where the driver offers none."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._watched: Dict[str, int] = {}  # uuid → index it was registered under
        try:
            self._set = nvml.nvmlEventSetCreate()
        except nvml.NVMLError:
            self._set = None

    def add(self, handle: Any, uuid: str, index: int) -> None:
        if self._set is None or self._watched.get(uuid) == index:
            return
        self._watched[uuid] = index
        try:
            self._nvml.nvmlDeviceRegisterEvents(handle, self._nvml.nvmlEventTypeXidCriticalError, self._set)
        except self._nvml.NVMLError:
            pass  # this GPU offers no events

    def collect(self) -> List[XidFrame]:
        """Return the events since the last call, without waiting."""
        found: List[XidFrame] = []
        while self._set is not None and len(found) < _AT_MOST:
            try:
                event = self._nvml.nvmlEventSetWait_v2(self._set, 0)
                uuid = self._nvml.nvmlDeviceGetUUID(event.device)
            except self._nvml.NVMLError:
                break
            if event.eventType & self._nvml.nvmlEventTypeXidCriticalError:
                found.append({"type": "xid", "uuid": uuid, "number": int(event.eventData)})
        return found
