"""Searches in the index of the history. Every condition that can be answered by trigrams is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.records import dataclass
from tarmac.store.history.text import Label, folded, trigrams

if TYPE_CHECKING:
    import sqlite3

    from tarmac.store.history.index import HistoryIndex

SHORTEST = 3  # characters of a trigram
MOST_TERMS = 2000  # trigrams that begin with a short word; with more, texts are scanned
_GLOB = re.compile(r"\[[^]]*\]|[*?]")  # what is not literal in a glob


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Selects ended jobs. All conditions must hold; None and empty ones are ignored."""

    words: tuple[str, ...] = ()  # each occurs in the text of the job
    states: tuple[str, ...] = ()
    owner: str | None = None
    project: str | None = None  # empty: jobs without one
    tag: str | None = None
    node: str | None = None  # of the last attempt
    name: str | None = None  # a glob
    since: float | None = None  # ended at this time or later
    until: float | None = None

    def of_labels(self) -> list[tuple[str, str | None]]:
        return [("owner", self.owner), ("project", self.project), ("tag", self.tag), ("node", self.node)]


class Place(NamedTuple):
    """Where a page ends. The place is of another job if the index was built again since."""

    place: int
    job: int


class Found(NamedTuple):
    places: list[Place]
    is_last: bool  # no further page


def search(index: HistoryIndex, wanted: HistoryFilter, *, after: Place | None, limit: int) -> Found:
    """The jobs that match, the newest first."""
    with index.opened() as connection:
        labels = _labels(index, connection, wanted)
        if labels is None or "\0" in "".join([*wanted.words, wanted.name or ""]):
            return Found([], is_last=True)
        where, values = _conditions(connection, wanted)
        if after is not None:
            where.append("history.place < ?")
            values.append(_current(connection, after))
        source, order = "history", "history.place"
        if match := _match(connection, labels, wanted) if index.has_words else "":
            # CROSS JOIN: the trigrams lead, in the order of places.
            source, order = "words CROSS JOIN history ON history.place = words.rowid", "words.rowid"
            where = ["words MATCH ?", *(one.replace("history.place", order) for one in where)]
            values.insert(0, match)
        elif labels:
            where += [f"({' OR '.join('instr(history.text, ?) > 0' for _ in either)})" for either in labels]
            values += [text for either in labels for text in either]
        clause = f"WHERE {' AND '.join(where)}" if where else ""
        found = connection.execute(
            f"SELECT history.place, history.job FROM {source} {clause} ORDER BY {order} DESC LIMIT ?",
            (*values, limit + 1),
        ).fetchall()
    return Found([Place(*row) for row in found[:limit]], is_last=len(found) <= limit)


def _current(connection: sqlite3.Connection, after: Place) -> int:
    row = connection.execute("SELECT place FROM history WHERE job = ?", (after.job,)).fetchone()
    return after.place if row is None else int(row[0])


def _conditions(connection: sqlite3.Connection, wanted: HistoryFilter) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    for word in wanted.words:
        where.append("instr(history.text, ?) > 0")
        values.append(folded(word))
    if wanted.name is not None:
        where.append("history.name GLOB ?")
        values.append(wanted.name)
    if wanted.until is not None:
        where.append("history.ended_at < ?")
        values.append(wanted.until)
    if wanted.since is not None:
        # Jobs are in the order in which their ends were recorded, or nearly: some of the oldest show where they begin.
        first = connection.execute(
            "SELECT min(place) FROM (SELECT place FROM history INDEXED BY history_ended WHERE ended_at >= ?"
            " ORDER BY ended_at LIMIT 1000)",
            (wanted.since,),
        ).fetchone()[0]
        where += ["history.place >= ?", "history.ended_at >= ?"]
        values += [(1 << 62) if first is None else first, wanted.since]
    return where, values


def _labels(index: HistoryIndex, connection: sqlite3.Connection, wanted: HistoryFilter) -> list[list[str]] | None:
    """The labels of which a job must have one each. None if no job ever had them."""
    asked = [[Label(kind, value)] for kind, value in wanted.of_labels() if value is not None]
    asked += [[Label("state", state) for state in wanted.states]] if wanted.states else []
    known = [[text for one in either if (text := index.label(connection, one)) is not None] for either in asked]
    return known if all(known) else None


def _match(connection: sqlite3.Connection, labels: list[list[str]], wanted: HistoryFilter) -> str:
    """The query for FTS5; empty: it cannot help."""
    parts = [_either(either) for either in labels]
    for text in map(folded, [*wanted.words, *_GLOB.split(wanted.name or "")]):
        if len(text) >= SHORTEST:
            parts += map(_quoted, trigrams(text))
        elif text and (terms := _terms(connection, text)) is not None:
            parts.append(_either(terms))
    return " AND ".join(dict.fromkeys(parts))


def _terms(connection: sqlite3.Connection, word: str) -> list[str] | None:
    """The trigrams that begin with a short word, which some text contains; None if they are too many."""
    connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'words', 'row')")
    found = connection.execute(
        "SELECT term FROM temp.terms WHERE term >= ? AND term < ? LIMIT ?", (word, word + "\U0010ffff", MOST_TERMS + 1)
    ).fetchall()
    # A word that no text contains matches nothing, and so does a trigram of separators alone.
    return None if len(found) > MOST_TERMS else [row[0] for row in found] or ["\n\n\n"]


def _either(texts: list[str]) -> str:
    return f"({' OR '.join(map(_quoted, texts))})"


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""'))
