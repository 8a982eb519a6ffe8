"""The newest events in pieces, shared by all streams. A stream that falls behind the oldest piece has to resume."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from tarmac.api.sse.events import with_id
from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from tarmac.api.wording.catalogue.dialect import Dialect

PIECE_BYTES = 1 << 16
BACKLOG_BYTES = 8 << 20
_OVERHEAD_BYTES = 500  # of a piece, roughly


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in the dialects that are in use. `job` is None for events that every stream gets.

    `is_live`: only streams that asked for live events get it.
    """

    job: int | None
    texts: dict[Dialect, bytes]
    is_live: bool = False


@dataclass(slots=True)
class Piece:
    """Some events of a round. The last piece of a round with jobs has the number that the round reaches.

    Streams of some jobs flush what they selected at `is_last`; a round without jobs reaches no number.
    """

    turn: int  # of the round
    entries: list[Entry]
    reaches: int | None = None
    is_last: bool = False
    _joined: dict[tuple[Dialect, bool], bytes] = field(default_factory=dict)

    def size(self) -> int:
        return _OVERHEAD_BYTES + sum(len(text) for entry in self.entries for text in entry.texts.values())

    def whole(self, dialect: Dialect, *, is_live: bool = False) -> bytes:
        """All events, joined once for all streams that want them."""
        key = (dialect, is_live)
        if key not in self._joined:
            texts = [entry.texts[dialect] for entry in self.entries if is_live or not entry.is_live]
            self._joined[key] = join(texts, self.reaches)
        return self._joined[key]

    def selected(self, dialect: Dialect, jobs: AbstractSet[int], *, is_live: bool = False) -> list[bytes]:
        return [
            entry.texts[dialect]
            for entry in self.entries
            if (entry.job is None or entry.job in jobs) and (is_live or not entry.is_live)
        ]


def join(texts: list[bytes], reaches: int | None) -> bytes:
    """Only the last event is a resume point: a stream that breaks before it must get all of them again."""
    if reaches is not None and texts:
        texts = [*texts[:-1], with_id(texts[-1], reaches)]
    return b"".join(texts)


def pieces(turn: int, entries: Iterable[Entry]) -> Iterator[Piece]:
    """The entries of a round in pieces of a bounded size; a larger entry is one piece."""
    piece = Piece(turn, [])
    size = 0
    for entry in entries:
        longest = max(map(len, entry.texts.values()), default=0)
        if piece.entries and size + longest > PIECE_BYTES:
            yield piece
            piece, size = Piece(turn, []), 0
        piece.entries.append(entry)
        size += longest
    if piece.entries:
        yield piece


class Backlog:
    """Pieces by number, counted from 0. When the earlier rounds are too large, their oldest pieces are dropped.

    The newest round does not count: no stream has had the time to take it.
    """

    def __init__(self) -> None:
        self.first = 0
        self._pieces: deque[Piece] = deque()
        self._bytes = 0  # of all pieces
        self._newest_bytes = 0  # of the newest round

    @property
    def end(self) -> int:
        """The number of the next piece."""
        return self.first + len(self._pieces)

    def append(self, piece: Piece) -> None:
        size = piece.size()
        is_same_round = bool(self._pieces) and self._pieces[-1].turn == piece.turn
        self._newest_bytes = self._newest_bytes + size if is_same_round else size
        self._bytes += size
        self._pieces.append(piece)
        while self._bytes - self._newest_bytes > BACKLOG_BYTES:
            self._bytes -= self._pieces.popleft().size()
            self.first += 1

    def piece(self, number: int) -> Piece | None:
        """None if it does not exist yet. A number below `first` is an error of the caller."""
        assert number >= self.first
        return self._pieces[number - self.first] if number < self.end else None
