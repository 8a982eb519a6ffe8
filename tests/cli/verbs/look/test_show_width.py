"""Long values of `show` on a terminal: sentences are split between words, paths and commands anywhere."""

import pytest

from tarmac.cli.verbs.look import show

HINT = "the GPU had too little memory left: use a smaller batch or model, request more GPUs or larger ones"


@pytest.mark.parametrize("columns", [30, 60, 80, 200])
def test_sentences_are_split_between_words(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "width", lambda: columns)
    lines = show.folded(HINT, 10, at_blanks=True)
    assert " ".join(lines) == HINT
    assert max(map(len, lines)) <= columns - 10


def test_a_word_that_is_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "width", lambda: 40)
    assert show.folded("x" * 70 + " end", 10, at_blanks=True) == ["x" * 30, "x" * 30, "x" * 10 + " end"]


def test_paths_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "width", lambda: 40)
    assert "".join(show.folded("/data/a b/" * 8, 10)) == "/data/a b/" * 8
