"""The last line of an output, as a reader would see it."""

import pytest

from tarmac.controller.notify.last_line import LONGEST, last_line


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (b"", None),
        (b"\n \n\t\n", None),
        (b"one\ntwo\n", "two"),
        (b"one\ntwo\n\n\n", "two"),
        (b"no newline", "no newline"),
        (b"10%\r20%\r100%", "100%"),
        (b"10%\r100%\r\n", "100%"),
        (b"\x1b[31mred\x1b[0m\x1b[K\n", "red"),
        (b"\x1b]0;title\x07text\n", "text"),
        (b"bell\x07 \x00null\n", "bell null"),
        ("größe\n".encode(), "größe"),
        (b"\xff\xfe broken\n", "\ufffd\ufffd broken"),
        (b"done\n\x1b[?25h", "done"),
    ],
)
def test_the_last_line_that_is_not_blank(output: bytes, line: str | None) -> None:
    assert last_line(output) == line


def test_a_long_line_is_cut() -> None:
    line = last_line(b"x" * 5000)
    assert line is not None
    assert len(line) == LONGEST
    assert line.endswith("…")
