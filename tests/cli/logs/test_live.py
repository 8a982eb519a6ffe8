"""What is passed on to a terminal while a log is followed: movements and colours, and nothing that could harm."""

import pytest

from tarmac.cli.logs.live import LiveFilter


def passed(data: bytes, *, colours: bool = True, step: int = 1000) -> bytes:
    live = LiveFilter(colours=colours)
    return b"".join(live.feed(data[at : at + step]) for at in range(0, len(data), step))


@pytest.mark.parametrize("step", [1, 3, 1000])
@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b" 1%|#\r 2%|##\x1b[K\n\x1b[A\x1b[31mred\x1b[0m\tx\b", b" 1%|#\r 2%|##\x1b[K\n\x1b[A\x1b[31mred\x1b[0m\tx\b"),
        (b"\x1b]0;title\x07a\x1b]52;c;ZXZpbA==\x1b\\b", b"ab"),
        (b"a\x1b[6nb\x1b[cc\x1b[?1049hd", b"abcd"),
        (b"a\x1bPq#0\x1b\\b\x1b_G\x1b\\c", b"abc"),
        (b"a\x1bcb\x00\x7f", b"ab"),
        (b"a\x1b[H\x1b[2J\x1b[3Jb", b"a\x1b[H\x1b[2Jb"),
        ("a\u009b6nb ©".encode(), "a6nb ©".encode()),
    ],
)
def test_only_harmless_sequences_pass(data: bytes, text: bytes, step: int) -> None:
    assert passed(data, step=step) == text


def test_without_colours() -> None:
    assert passed(b"\x1b[31mred\x1b[0m\x1b[K\n", colours=False) == b"red\x1b[K\n"


def test_a_sequence_that_never_ends_is_dropped() -> None:
    live = LiveFilter(colours=True)
    assert live.feed(b"\x1b]0;" + b"x" * 100_000) == b""
    assert live.feed(b"text\n") == b"text\n"


def test_the_terminal_is_left_as_it_was() -> None:
    live = LiveFilter(colours=True)
    live.feed(b"\x1b[31mred")
    assert live.finish() == b"\x1b[0m"
