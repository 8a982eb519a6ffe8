"""Finds addresses of experiment trackers in logs: Weights & Biases, MLflow and TensorBoard."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, Optional

from tarmac.shared.escapes import ESCAPES

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import FindLinksFrame, LinkFile
    from tarmac.shared.frames.to_controller import FoundLinks, LinkEntry, LinksFoundFrame

_PART = 1 << 20  # of a log that has grown by more, this much at its beginning and end is read
_MOST = 10  # of one log
_LONGEST = 500
_URL = re.compile(r"https?://[^\s\"'<>`|\\\x00-\x1f]+")
_ESCAPES = re.compile(ESCAPES)
_USER = re.compile(r"^(https?://)[^/@]*@")
_WANDB = re.compile(r"^https?://[^/]*wandb[^/]*/[^/]+/[^/]+|/runs/[a-z0-9]{8}($|[/?#])")
_MLFLOW = re.compile(r"/#/experiments/")


def find_links(request: FindLinksFrame, reach: Callable[[str], None]) -> LinksFoundFrame:
    """`reach` is called with each path before it is opened, and raises OSError if its file system hangs."""
    found = [_of_file(file, reach) for file in request["files"]]
    return {"type": "links_found", "ref": request.get("ref"), "found": found}


def _of_file(file: LinkFile, reach: Callable[[str], None]) -> FoundLinks:
    links: Dict[str, LinkEntry] = {}
    offset = file["offset"]
    try:
        reach(file["path"])
        with open(file["path"], "rb") as log:
            size = log.seek(0, os.SEEK_END)
            offset = min(offset, size)
            parts = [(offset, size)] if size - offset <= 2 * _PART else [(offset, offset + _PART), (size - _PART, size)]
            for begin, end in parts:
                log.seek(begin)
                data = log.read(end - begin)
                whole = data.rfind(b"\n") + 1  # an address may still be in the middle of being written
                offset = begin + (whole if end == size and not file["is_over"] else len(data))
                _collect(data if file["is_over"] else data[:whole], links)
    except OSError:
        pass
    return {"links": list(links.values())[:_MOST], "offset": offset}


def _collect(data: bytes, links: Dict[str, LinkEntry]) -> None:
    if b"://" not in data:
        return
    for line in _ESCAPES.sub("", data.decode("utf-8", "replace")).splitlines():
        if "://" in line:
            for found in _URL.findall(line):
                url = _USER.sub(r"\1", found.rstrip(".,;:)]}!?*"))
                kind = _kind(url, line)
                if kind is not None and len(url) <= _LONGEST:
                    links.setdefault(url, {"kind": kind, "url": url})


def _kind(url: str, line: str) -> Optional[str]:
    if _MLFLOW.search(url):
        return "mlflow"
    if _WANDB.search(url) and ("wandb" in url or "wandb" in line):
        return "wandb"
    return "tensorboard" if "tensorboard" in line.lower() else None
