"""Environments of jobs as rows: each once, without its secrets, which are in a file beside the database.

A row has all names, and null in place of the value of a secret. The hash that jobs refer to depends on the secrets only
through the name of their file, which is a keyed hash: nobody can guess a secret and compare.
"""

from __future__ import annotations

import zlib
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from tarmac.shared.secret_names import split
from tarmac.store import rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from tarmac.store.environments.secret_files import SecretFiles

PublicVariables: TypeAlias = dict[str, str | None]  # None: a secret

_encode = msgspec.json.Encoder().encode
_public = msgspec.json.Decoder(list[tuple[str, str | None]])
_secret = msgspec.json.Decoder(list[tuple[str, str]])


class SecretSet(NamedTuple):
    """The secrets of an environment. `name` is that of their file."""

    name: str
    body: bytes


class StoredEnvironment(NamedTuple):
    body: bytes
    secrets: SecretSet | None = None


class PackedEnvironment(NamedTuple):
    digest: str
    stored: StoredEnvironment


def _no_key() -> bytes:
    raise ValueError("an environment with secrets needs a key")


def pack_environment(
    variables: dict[str, str], key: Callable[[], bytes] = _no_key, missing: Iterable[str] = ()
) -> PackedEnvironment:
    """The order of the variables does not affect the hash. Only an environment with secrets needs a key.

    `missing` are the names of secrets whose values are not known.
    """
    public, secrets = split(variables)
    public |= dict.fromkeys(missing)
    body = _encode(sorted(public.items()))
    if not secrets:
        return PackedEnvironment(_digest(body), StoredEnvironment(zlib.compress(body, 1)))
    values = _encode(sorted(secrets.items()))
    kept = SecretSet(blake2b(values, digest_size=16, key=key()).hexdigest(), values)
    return PackedEnvironment(_digest(body + kept.name.encode()), StoredEnvironment(zlib.compress(body, 1), kept))


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()


def public_part(body: bytes) -> PublicVariables:
    """All names, and the values of those that are not secret."""
    return dict(_public.decode(zlib.decompress(body)))


def whole(body: bytes, secrets: bytes | None) -> dict[str, str]:
    """With the secrets. Raises ValueError if one of them is missing."""
    found = {} if secrets is None else dict(_secret.decode(secrets))
    variables = {name: found.get(name) if value is None else value for name, value in public_part(body).items()}
    missing = [name for name, value in variables.items() if value is None]
    if missing:
        raise ValueError(f"the values of {', '.join(missing)} are missing")
    return {name: value for name, value in variables.items() if value is not None}


def insert(connection: sqlite3.Connection, environments: dict[str, StoredEnvironment]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO environments (hash, body, secrets) VALUES (?, ?, ?)",
        [
            (digest, stored.body, None if stored.secrets is None else stored.secrets.name)
            for digest, stored in environments.items()
        ],
    )


def remove(connection: sqlite3.Connection, digests: set[str]) -> list[str]:
    """Delete those that no job refers to. Returns the files of secrets that are no longer needed."""
    names: set[str] = set()
    unused = f"hash = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE {rows.ENVIRONMENT_OF_JOB} = ?1)"
    for digest in sorted(digests):
        found = connection.execute(f"SELECT secrets FROM environments WHERE {unused}", (digest,)).fetchone()
        if found is not None:
            connection.execute("DELETE FROM environments WHERE hash = ?", (digest,))
            names |= {found[0]} - {None}
    used = "SELECT 1 FROM environments WHERE secrets = ?"
    return [name for name in sorted(names) if connection.execute(used, (name,)).fetchone() is None]


def names_in_use(connection: sqlite3.Connection) -> set[str]:
    """The files of secrets that rows refer to."""
    found = connection.execute("SELECT DISTINCT secrets FROM environments WHERE secrets IS NOT NULL")
    return {row[0] for row in found}


def move_secrets_out(connection: sqlite3.Connection, files: SecretFiles) -> None:
    """Migrate: earlier versions stored all values in the row, and their hash could be compared with a guess."""
    found = connection.execute("SELECT hash, body FROM environments WHERE secrets IS NULL").fetchall()
    for old, body in found:
        try:
            variables = whole(body, None)
        except (msgspec.DecodeError, zlib.error, ValueError):
            continue  # damaged, and reported when one of its jobs starts
        digest, stored = pack_environment(variables, files.key)
        if stored.secrets is not None:
            files.keep(stored.secrets)
            insert(connection, {digest: stored})
            connection.execute(
                f"UPDATE jobs SET spec = json_set(spec, '$.environment', ?) WHERE {rows.ENVIRONMENT_OF_JOB} = ?",
                (digest, old),
            )
            connection.execute("DELETE FROM environments WHERE hash = ?", (old,))
