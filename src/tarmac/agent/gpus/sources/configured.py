"""GPUs of which nothing can be read, as the configuration lists them: `gpus = [{index=0, model="X", memory="24G"}]`.

The controller hands the list on as JSON in TARMAC_LISTED_GPUS.
"""

from __future__ import annotations

import json
import re
from typing import Any, List

from tarmac.agent.gpus.sources.source import Absent, Gpu, Reading, gpu

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


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
    found = _SIZE.fullmatch(str(value).strip())
    if not found:
        raise ValueError(f"{value!r} is not a size such as 24G")
    return int(float(found.group(1)) * _UNITS[found.group(2).upper()])
