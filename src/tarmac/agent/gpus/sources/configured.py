"""Unreadable GPUs, as the configuration lists them: `gpus = [{index=0, model="X", memory="24G"}]`.

The controller passes the list as JSON in TARMAC_LISTED_GPUS, see `ListedGpu`. Set by hand, an entry may also have a
`uuid`, give its size as `memory`, and leave out everything.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, List

from tarmac.agent.gpus.sources.source import Absent, Reading, new_gpu
from tarmac.shared.units import parse_size

if TYPE_CHECKING:
    from tarmac.agent.frames import ProbedGpu
    from tarmac.shared.frames.to_agent import ListedGpu
    from tarmac.shared.frames.to_controller import GpuMake


class ConfiguredSource:
    make: GpuMake = "listed"
    name = "listed"

    def __init__(self, text: str, node: str = "") -> None:
        self._text = text
        self._prefix = f"LISTED-{node}-" if node else "LISTED-"  # unique across nodes

    def read(self) -> Reading:
        try:
            return Reading([_gpu(position, entry, self._prefix) for position, entry in enumerate(_entries(self._text))])
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise Absent(f"the list of GPUs in the configuration is not valid: {error}") from None


def _entries(text: str) -> List[Any]:
    entries = json.loads(text)
    if not isinstance(entries, list):
        raise TypeError("it is not a list")
    return entries


def _gpu(position: int, entry: Any, prefix: str) -> ProbedGpu:
    gpu = _listed(position, entry)
    uuid = str(entry.get("uuid", f"{prefix}{gpu['index']}"))
    return new_gpu(gpu["index"], uuid, gpu["model"] or "GPU", make="listed", total=gpu["memory_total_bytes"])


def _listed(position: int, entry: Any) -> ListedGpu:
    return {
        "index": int(entry.get("index", position)),
        "model": str(entry.get("model", "")),
        "memory_total_bytes": _size(entry.get("memory_total_bytes", entry.get("memory", 0))),
    }


def _size(value: Any) -> int:
    """A number is bytes; a text needs its unit."""
    if isinstance(value, int):
        return value
    try:
        return parse_size(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a size such as 24G") from None
