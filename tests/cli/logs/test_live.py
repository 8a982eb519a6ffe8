"""What is passed on to a terminal while a log is followed: movements and colours, and nothing that could harm."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.cli.logs.live import LiveFilter

# Pieces of which sequences can be put together, by what is removed between them.
PIECES = [
    b"\x1b", b"[", b"]", b"P", b"?1049h", b"0;t", b"\x07", b"\\", b"\x00", b"\x18", b"\x7f", b"\xc2", b"\x80",
    b"\x9b", b"\x9d", b"c", b"31m", b"2J", b"K", b"\r", b"\n", b"\b", b"a", b"\xe2", b"\xe9", "é❝".encode(),
    b"\x1b[1m", b"\x1b]52;c;e\x07",
]  # fmt: skip
NASTY = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join) | st.binary(max_size=20)
CHARACTER = (
    rb"[\x07-\x0d\x20-\x7e]|[\xa0-\xff]|"
    rb"[\xc3-\xdf][\x80-\xbf]|\xc2[\xa0-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
HARMLESS = re.compile(rb"(?:\x1b\[[0-9;:]*[ABCDEFGHJKLMPSTXabdefmsu@`]|\x1b[78]|" + CHARACTER + rb")*")


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


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b\x00]52;c;ZXZpbA==\x07",
        b"\x1b\x7f]0;title\x07",
        b"\x1b\xc2\x80]0;title\x07",
        b"\x1b\x1b[?1049h]0;title\x07",
        b"\x1b[\x18c",
        b"\x1b[\x1b[?1049h?1049h",
        b"\x9d0;title\x9c",
        b"\xc2\xc2\x9d\x9d0;title",
    ],
)
@pytest.mark.parametrize("step", [1, 2, 1000])
def test_what_is_removed_never_joins_the_parts_of_a_sequence(data: bytes, step: int) -> None:
    assert b"\x1b" not in passed(data, step=step)
    assert HARMLESS.fullmatch(passed(data, step=step))


@given(NASTY, st.sampled_from([1, 2, 1000]), st.booleans())
def test_nothing_else_passes_whatever_is_written(data: bytes, step: int, colours: bool) -> None:
    once = passed(data, step=step, colours=colours)
    assert HARMLESS.fullmatch(once)
    assert once.startswith(passed(once, colours=colours)), "twice removes no more, but waits for a character to end"


def test_characters_stay_whole() -> None:
    text = "❝naïve❞ 進捗 🙂 ".encode() + b"caf\xe9 "
    assert [passed(text, step=step) for step in (1, 2, 3, 1000)] == [text] * 4
    live = LiveFilter(colours=False)
    assert live.feed(b"caf\xe9") + live.finish() == b"caf\xe9"


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
