"""A log as a terminal shows it: carriage returns, movements of the cursor, colours, and what is not shown."""

import random
import re
import subprocess
import sys

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.cli.logs.renderer import LogRenderer
from tests.cli.logs.test_live import CHARACTER, NASTY

SHOWN = re.compile(rb"(?:\x1b\[[0-9;:]*m|" + CHARACTER + rb")*")


def shown(data: bytes, *, colours: bool = False, step: int | None = None, held: int = 60) -> bytes:
    renderer = LogRenderer(colours=colours, held=held)
    pieces: list[bytes] = []
    for begin in range(0, len(data), step or len(data) or 1):
        pieces += renderer.feed(data[begin : begin + (step or len(data))])
    return b"".join([*pieces, *renderer.finish()])


TQDM = b"".join(b"\r%3d%%|%-10s| %d/100 [00:12<00:15]" % (n, b"#" * (n // 10), n) for n in range(101))
RICH = b"\r\x1b[2K\x1b[1A\x1b[2K".join(b"Training %3d%%\nValid    %3d%%" % (n, n // 2) for n in range(50))
NESTED = b"outer 0%\ninner 0%\n" + b"".join(b"\x1b[A\x1b[A\router %d%%\n\rinner %d%%\n" % (n, n * 7) for n in range(9))
DASHBOARD = b"".join(b"\x1b[Hgpu %d\nmem %d\n" % (n, n) for n in range(9))
SAMPLES = [
    (b"", b""),
    (b"a\nb\n", b"a\nb\n"),
    (b"no newline", b"no newline"),
    (b"\n\n\n", b"\n\n\n"),
    (b"dos\r\nlines\r\n", b"dos\nlines\n"),
    (b"start\n" + TQDM + b"\ndone\n", b"start\n100%|##########| 100/100 [00:12<00:15]\ndone\n"),
    (b"a long text\rshort\n", b"shortg text\n"),
    (b"a long text\r\x1b[Kshort\n", b"short\n"),
    (b"a long text\x1b[2K\rshort\n", b"short\n"),
    ("Epoch ━━━━╸    \rEpoch ━━━━━━━━━\n".encode(), "Epoch ━━━━━━━━━\n".encode()),
    ("進捗 進捗\rab\n".encode(), "ab捗 進捗\n".encode()),
    (b"abc\b\bX\n", b"aXc\n"),
    (b"\x1b[1;31mError\x1b[0m: x\n", b"Error: x\n"),
    (b"\x1b]0;title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", b"text link\n"),
    (b"\x1b[?25lhidden cursor\x1b[?25h\x07\n", b"hidden cursor\n"),
    (b"nul\0 and \x7f del, caf\xe9\n", b"nul and  del, caf\xe9\n"),
    ("a\u009b31mb\n".encode(), b"a31mb\n"),
    (NESTED + b"done\n", b"outer 8%\ninner 56%\ndone\n"),
    (b"head\n" + RICH + b"\ndone\n", b"head\nTraining  49%\nValid     24%\ndone\n"),
    (b"one\ntwo\nthree\x1b[2A\rONE\n\n\nend\n", b"ONE\ntwo\nthree\nend\n"),
    (b"one\ntwo\n\x1b[2J\x1b[Hclean\n", b"one\ntwo\nclean\n"),
    (b"head\n" + DASHBOARD + b"end\n", b"head\ngpu 8\nmem 8\nend\n"),
    ("進".encode() * 150 + b"\na\tb\n\x1b[A\rx\n", "進".encode() * 150 + b"\nx       b\n"),
    (b"col\x1b[10Gten\n", b"col      ten\n"),
    (b"ab\x1b[sxyz\x1b[uAB\n", b"abABz\n"),
    (b"x" * 3000 + b"\x1b[3D!\n", b"x" * 2997 + b"!xx\n"),
]  # fmt: skip


@pytest.mark.parametrize(("log", "text"), SAMPLES)
@pytest.mark.parametrize("step", [None, 1, 7])
def test_what_a_terminal_shows(log: bytes, text: bytes, step: int | None) -> None:
    assert shown(log, step=step) == text


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (b"\x1b[\x00?1049hx\n", b"x\n"),
        (b"\x1b[\x18cx\n", b"x\n"),
        (b"\x1b[\x1b[?1049h?1049h\n", b"?1049h\n"),
        (b"\x1b\x00]52;c;ZXZpbA==\x07x\n", b"x\n"),
        (b"\x9d0;title\x9cx\n", b"0;titlex\n"),
    ],
)
def test_what_is_removed_never_joins_the_parts_of_a_sequence(log: bytes, text: bytes) -> None:
    assert shown(log) == shown(log, held=0) == text


@given(NASTY, st.booleans(), st.sampled_from([0, 60]))
def test_only_colours_and_characters_are_shown_whatever_is_written(data: bytes, colours: bool, held: int) -> None:
    text = shown(data, colours=colours, held=held)
    assert SHOWN.fullmatch(text)
    assert colours or b"\x1b" not in text


NUMBERED = b"".join(b"line %d\n" % number for number in range(300))
CLEARS = [
    b"\x1b[H\x1b[2J\x1b[3J", b"\x1b[2J\x1b[H", b"\x1b[1;1H\x1b[J", b"\x1b[H\x1b[m\x1b[0J", b"\x1b[;H\x1b[J",
    b"\x1b[3J", b"\x1b[1J", b"\x1bc", b"\x1b[A\x1bc",
    b"\x1b[?1049h\x1b[H", b"\x1b[H", b"\x1b[1d", b"\x1b[A\x1b[B\x1b[1;24r",
]  # fmt: skip


@pytest.mark.parametrize("clear", CLEARS)
@pytest.mark.parametrize("step", [None, 700])
def test_lines_before_the_screen_is_cleared_are_shown(clear: bytes, step: int | None) -> None:
    """A script that calls `clear` must not hide a traceback."""
    once = NUMBERED + clear + b"after\n"
    assert shown(once * 2, step=step) == (NUMBERED + b"after\n") * 2


def test_all_lines_before_a_movement_are_shown() -> None:
    """Also if they arrive together with it, and are more than can be changed."""
    assert shown(NUMBERED + b"\x1b[A\rLINE\n") == NUMBERED[: -len(b"line 299\n")] + b"LINE 299\n"


def test_a_status_line_below_a_scrolling_region() -> None:
    """As apt shows it."""
    log = b"begin\n\x1b7\x1b[0;24r\x1b8\x1b[1A" + b"".join(
        b"line %d\n\x1b7\x1b[25;1H\x1b[Kprogress %d\x1b8" % (number, number) for number in range(300)
    )
    assert shown(log + b"\x1b7\x1b[0;25r\x1b8\x1b[Jend\n") == b"begin\n" + NUMBERED + b"end\n"


def text(screen: pyte.Screen, row: int) -> str:
    """As `screen.display` has it, without visiting the columns that were never written: most of them, here."""
    line = screen.buffer.get(row, {})
    return "".join(line[column].data if column in line else " " for column in range(max(line, default=-1) + 1))


def test_it_agrees_with_a_terminal_of_the_library() -> None:
    """Random text, colours and movements, against a terminal that is large enough for all of it."""
    rng = random.Random(7)
    words = [b"step ", b"\n", b"\r", b"\x1b[A", b"\x1b[2A", b"\x1b[B\r", b"\x1b[K", b"\x1b[2K", b"\x1b[31m", b"\x1b[0m"]
    words += [b"ab\bc", b"\x1b[5G", b"\x1b[C", b"\x1b[D", "█".encode(), b"\x1b[J", b"x" * 30]
    for _ in range(200):
        log = b"".join(rng.choice(words) for _ in range(rng.randint(1, 60))) + b"\n"
        screen = pyte.Screen(1000, 200)
        pyte.Stream(screen).feed(log.decode().replace("\n", "\r\n"))
        expected = "\n".join(text(screen, row).rstrip() for row in range(screen.lines)).rstrip()
        got = "\n".join(line.rstrip() for line in shown(log).decode().split("\n")).rstrip()
        assert got == expected, log


def test_colours_are_kept_on_a_terminal_and_end_with_the_log() -> None:
    assert shown(b"\x1b[31mred\n", colours=True) == b"\x1b[31mred\n\x1b[0m"
    text = shown(b"a\nb\n\x1b[A\x1b[1;32mgreen\x1b[0m\n", colours=True)
    assert text == b"a\n\x1b[1;32mgreen\x1b[0m\n"


def test_following_shows_each_line_at_once() -> None:
    renderer = LogRenderer(colours=False, held=0)
    assert b"".join(renderer.feed(b"one\ntw")) == b"one\n"
    assert b"".join(renderer.feed(b"o\n 1%\r 2%")) == b"two\n"
    assert b"".join(renderer.feed(b"\r 3%\n")) == b" 3%\n"
    assert b"".join(renderer.finish()) == b""


# Renders 50 MB, and prints by how many bytes the memory of the process has grown since the first part.
RENDERS = """
import resource, sys
from tarmac.cli.logs.renderer import LogRenderer

piece = sys.argv[1].encode()
block = piece * ((1 << 18) // len(piece))
renderer = LogRenderer(colours=False)
for number in range(201):
    for _ in renderer.feed(block):
        pass
    if number == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.parametrize("piece", ["step 7 loss 0.3\n", "\r 7%|##  | 7/100", "x", "\x1b[32mok\x1b[0m step\n"])
def test_a_large_log_takes_little_memory(piece: str) -> None:
    grown = subprocess.run([sys.executable, "-c", RENDERS, piece], capture_output=True, text=True, check=True).stdout
    assert int(grown) < 8 << 20


def test_plain_logs_load_neither_the_library_nor_patterns() -> None:
    program = (
        "import sys; from tarmac.cli.logs.renderer import LogRenderer; before = set(sys.modules); "
        "r = LogRenderer(colours=True); list(r.feed(b'a\\nb\\n' * 1000)); list(r.finish()); "
        "sys.exit(bool({'pyte', 'tarmac.cli.logs.line'} & (set(sys.modules) - before)))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
