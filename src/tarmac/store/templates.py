"""Templates: the options of jobs under a name, for each user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.records import dataclass

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTemplate:
    owner: str
    name: str
    job: int  # that it was made of
    saved_at: float
    options: dict[str, Any]  # as a submit takes them


def write(connection: sqlite3.Connection, templates: Mapping[tuple[str, str], StoredTemplate | None]) -> None:
    for key, one in templates.items():
        if one is None:
            connection.execute("DELETE FROM templates WHERE owner = ? AND name = ?", key)
        else:
            row = (one.owner, one.name, one.job, one.saved_at, msgspec.json.encode(one.options).decode())
            connection.execute("INSERT OR REPLACE INTO templates VALUES (?, ?, ?, ?, ?)", row)


def read(connection: sqlite3.Connection, owner: str) -> list[StoredTemplate]:
    """The templates of one user, by name."""
    rows = connection.execute(
        "SELECT name, job, saved_at, options FROM templates WHERE owner = ? ORDER BY name", (owner,)
    )
    return [
        StoredTemplate(owner=owner, name=name, job=job, saved_at=at, options=msgspec.json.decode(options))
        for name, job, at, options in rows
    ]
