"""The file of a backup: a tar archive that begins with a mark and ends with a manifest of all other members."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.snapshots.paths import OBJECTS
from tarmac.refusal import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

FORMAT = 1
MARK = "tarmac-backup"
MANIFEST = "manifest.json"
DATABASE = "tarmac.db"
CONFIG = "config.toml"
SECRETS = "secrets"
LOGS = "logs"
SNAPSHOTS = OBJECTS
_BLOCK = 1 << 20


class Member(NamedTuple):
    size: int
    sha256: str


class ArchiveWriter:
    def __init__(self, file: BinaryIO) -> None:
        self._tar = tarfile.TarFile(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)
        self._members: dict[str, Member] = {}
        self._add(MARK, json.dumps({"tarmac_backup": FORMAT}).encode())

    def add_file(self, name: str, path: Path) -> bool:
        """False if the file is gone."""
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            size = os.fstat(file.fileno()).st_size
            reading = _Hashing(file, size)
            self._tar.addfile(_info(name, size), reading)
        self._members[name] = Member(size, reading.digest())
        return True

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the manifest. A file without it is not a complete backup."""
        files = {name: member._asdict() for name, member in self._members.items()}
        self._add(MANIFEST, json.dumps({**about, "files": files}).encode())
        self._tar.close()

    def _add(self, name: str, body: bytes) -> None:
        self._tar.addfile(_info(name, len(body)), io.BytesIO(body))


def _info(name: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    return info


class _Hashing(io.RawIOBase):
    """Hashes what is read. A file that shrinks meanwhile is filled up with zeros; one that grows is cut."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._file.read(wanted)
        data += b"\0" * (wanted - len(data))
        self._left -= len(data)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()


def extract(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack everything, verified, into a directory. Returns the manifest. Refuses a file that is not ours."""
    try:
        with tarfile.open(path, "r:") as tar:
            return _extracted(tar, path, folder)
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise _not_ours(path) if isinstance(error, tarfile.ReadError) else _damaged(path, str(error)) from error


def _extracted(tar: tarfile.TarFile, path: Path, folder: Path) -> dict[str, Any]:
    first = tar.next()
    if first is None or first.name != MARK:
        raise _not_ours(path)
    mark = json.loads(_content(tar, first))
    if mark.get("tarmac_backup") != FORMAT:
        raise invalid("backup.newer", path=path, version=None)
    found: dict[str, Member] = {}
    while (member := tar.next()) is not None:
        if member.name == MANIFEST:
            manifest: dict[str, Any] = json.loads(_content(tar, member))
            listed = {name: Member(**about) for name, about in manifest["files"].items()}
            if listed != found:
                raise _damaged(path, min(set(listed.items()) ^ set(found.items()))[0])
            return manifest
        if not member.isreg() or not _is_safe(member.name):
            raise _damaged(path, member.name)
        found[member.name] = _unpacked(tar, member, folder / member.name)
    raise _damaged(path, MANIFEST)


def _unpacked(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> Member:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source, summed, size = tar.extractfile(member), hashlib.sha256(), 0
    assert source is not None
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        while data := source.read(_BLOCK):
            file.write(data)
            summed.update(data)
            size += len(data)
        file.flush()
        os.fsync(file.fileno())
    return Member(size, summed.hexdigest())


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    return b"" if file is None else file.read()


def _is_safe(name: str) -> bool:
    """Only the names that a backup has: nothing is written anywhere else."""
    folder, _, rest = name.partition("/")
    is_plain = bool(rest) and "/" not in rest and rest not in {".", ".."}
    return name in {DATABASE, CONFIG, SNAPSHOTS} or (folder in {SECRETS, LOGS} and is_plain)


def _not_ours(path: Path) -> Refused:
    return invalid("backup.not_ours", path=path)


def _damaged(path: Path, why: str) -> Refused:
    return invalid("backup.damaged", path=path, why=why)
