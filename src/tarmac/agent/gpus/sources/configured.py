"""GPUs of which nothing can be read, as the configuration lists them: `gpus = [{index=0, model="X", memory="24G"}]`.

The controller hands the list on as JSON in TARMAC_LISTED_GPUS.
"""

from __future__ import annotations

import json
from typing import Any, List

from tarmac.agent.gpus.sources.source import Absent, Gpu, Reading, gpu
from tarmac.shared.units import parse_size


class ListedSource:
    make = name = "listed"

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> Reading:
        try:
            return Reading([_gpu(position, entry) for position, entry in enumerate(_entries(self._text))])
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise Absent(f"the list of GPUs in the configuration is not understood: {error}") from None


def _entries(text: str) -> List[Any]:
    entries = json.loads(text)
    if not isinstance(entries, list):
        raise TypeError("it is not a list")
    return entries


def _gpu(position: int, entry: Any) -> Gpu:
    index = int(entry.get("index", position))
    uuid = str(entry.get("uuid", f"LISTED-{index}"))
    return gpu(index, uuid, str(entry.get("model", "GPU")), make="listed", total=_size(entry.get("memory", 0)))


def _size(value: Any) -> int:
    """A number is bytes; a text needs its unit."""
    if isinstance(value, int):
        return value
    try:
        return parse_size(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a size such as 24G") from None
