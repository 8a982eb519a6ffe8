"""The files of the page, as a browser asks for them.

Each path is looked up in a table of all files. A path from a request is never joined to a directory.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent
PARTS = ("page", "packages")
INDEX = "/page/index.html"
NEEDED = "/packages/preact/dist/preact.mjs"  # absent if the packages were not fetched

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    body: bytes
    media_type: str

    @cached_property
    def etag(self) -> str:
        return f'"{sha256(self.body).hexdigest()[:32]}"'

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.body, 9, mtime=0)


class PageFiles:
    """Read at the first request, and kept: about a megabyte."""

    @cached_property
    def _files(self) -> dict[str, PageFile]:
        return {path: PageFile(file.read_bytes(), TYPES[file.suffix]) for path, file in _listed()}

    @property
    def are_complete(self) -> bool:
        return NEEDED in self._files

    def get(self, path: str) -> PageFile | None:
        return self._files.get(path)


def _listed() -> list[tuple[str, Path]]:
    found = []
    for part in PARTS:
        for folder, _, names in os.walk(ROOT / part):
            files = (Path(folder, name) for name in names)
            found += [(f"/{file.relative_to(ROOT)}", file) for file in files if file.suffix in TYPES]
    return found
