"""Sends a snapshot to the controller: first its name, and only if that is unknown the objects that are missing."""

from __future__ import annotations

from tarmac.client.snapshots.scan import read_again
from tarmac.shared.snapshots.objects import hash_of, packed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tarmac.client.connection import Link
    from tarmac.client.snapshots.scan import Scan

_PACK_BYTES = 8 << 20
_ASKED_AT_ONCE = 200_000  # hashes
_UPLOAD_S = 300.0


class Changed(Exception):
    """A file changed between two reads."""


def state_of(client: Link, tree: bytes) -> dict[str, Any]:
    answer: dict[str, Any] = client.call("GET", f"/snapshots/{tree.hex()}")
    return answer


def upload(client: Link, tree: bytes, directories: dict[bytes, bytes], scan: Scan) -> bool:
    """False if objects vanished meanwhile, as they do in a cleanup: try again. Raises Changed."""
    ready = directories | scan.lists()
    places = scan.places()
    wanted = [*ready, *(digest for digest in places if digest not in ready)]

    def content(digest: bytes) -> bytes:
        data = ready.get(digest)
        if data is None:
            data = scan.contents.get(digest)
        if data is None:
            data = read_again(scan.root_fd, places[digest])
            if hash_of(data) != digest:
                raise Changed(places[digest].path)
        return data

    for start in range(0, len(wanted), _ASKED_AT_ONCE):
        some = wanted[start : start + _ASKED_AT_ONCE]
        missing = [some[place] for place in _send(client, "/snapshots/missing", b"".join(some))["missing"]]
        for pack in _packs(missing, content):
            _send(client, "/snapshots/objects", pack)
    answer: dict[str, Any] = client.call("PUT", f"/snapshots/{tree.hex()}", body={}, has_token=True, within_s=_UPLOAD_S)
    is_stored: bool = answer["is_stored"]
    return is_stored


def _send(client: Link, path: str, data: bytes) -> Any:
    return client.call("POST", path, data=data, has_token=True, within_s=_UPLOAD_S)


def _packs(digests: list[bytes], content: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """Packs of a bounded size, in which objects travel."""
    parts: list[bytes] = []
    size = 0
    for digest in digests:
        parts.append(packed(digest, content(digest)))
        size += len(parts[-1])
        if size >= _PACK_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)
