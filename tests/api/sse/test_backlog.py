import pytest

from tarmac.api.sse import backlog
from tarmac.api.sse.backlog import Backlog, Entry, Piece, pieces
from tarmac.api.wording.catalogue.dialect import Dialect

HERE = Dialect("en", None)


def entry(size: int, job: int | None = None) -> Entry:
    return Entry(job, {HERE: b"event: x\n" + b"." * size})


def test_a_round_is_cut_into_pieces_and_no_event_is_split() -> None:
    cut = list(pieces(1, [entry(40_000), entry(20_000), entry(20_000), entry(100_000), entry(1)]))
    assert [len(piece.entries) for piece in cut] == [2, 1, 1, 1]


def test_old_rounds_are_dropped_but_never_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "BACKLOG_BYTES", 10_000)
    held = Backlog()
    for _ in range(5):
        held.append(Piece(1, [entry(4000)]))
    assert (held.first, held.end) == (0, 5)
    held.append(Piece(2, [entry(4000)]))
    assert (held.first, held.end) == (3, 6)
    assert held.piece(5) is not None
    assert held.piece(6) is None


def test_only_the_last_event_gets_the_number_of_the_round() -> None:
    piece = Piece(1, [entry(1, 3), entry(2, 4)], reaches=7)
    assert piece.whole(HERE) == b"event: x\n.event: x\nid: 7\n.."
    assert piece.whole(HERE) is piece.whole(HERE)
    assert piece.selected(HERE, {3}) == [b"event: x\n."]
