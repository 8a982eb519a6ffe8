"""Which lines of a log are printed."""

import tracemalloc

import pytest

from tarmac.cli.logs.printing import matching


@pytest.mark.parametrize("lines", [None, 3])
def test_a_line_without_an_end_takes_little_memory(lines: int | None) -> None:
    piece = b"x" * (1 << 18)
    tracemalloc.start()
    found = sum(len(data) for data in matching((piece for _ in range(200)), "no such", lines))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == 0
    assert peak < 8 << 20


def test_lines_that_match_over_pieces() -> None:
    output = [b"on", b"e\ntw", b"o\nthree ", b"x" * 70_000, b"\nfour o"]
    assert b"".join(matching(output, "o", None)) == b"one\ntwo\nfour o\n"
    assert b"".join(matching(output, "o", 2)) == b"two\nfour o\n"
    assert b"".join(matching(output, "o", 0)) == b""
    assert b"".join(matching(output, "^three", None)).startswith(b"three xxx")
