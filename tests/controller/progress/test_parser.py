import signal
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarmac.controller.progress import parser
from tarmac.controller.progress.parser import TAIL_BYTES, read_progress

# Pieces of what the patterns look for: their repetitions are the worst that a log can contain.
PIECES = ["=== ", "\x1b]", "\x1b[0;", "9", "1/2 ", "(1/", "5%|", "epoch ", " ", "eta ", "0:00 • ", "1.", "% ", "step "]


@pytest.mark.parametrize(
    ("tail", "fraction", "eta_s"),
    [
        (" 45%|████▌     | 45/100 [00:12<00:15,  3.60it/s]", 0.45, 15),
        ("\r  0%|          | 0/100 [00:00<?, ?it/s]\r 33%|███▎      | 33/100 [1:00:12<2:00:15,  3.6s/it]", 0.33, 7215),
        ("100%|██████████| 100/100 [00:12<00:00,  3.60it/s]\n", 1.0, 0),
        ("Loading:  50%|█████     | 1.50G/3.00G [00:10<00:10, 150MB/s]", 0.5, 10),
        ("train:  12%|#2        | 120/1000 [00:12<01:28, 10.0it/s, loss=0.3/0.4]", 0.12, 88),
        ("download:  70%|███████   |", 0.7, None),
        (" 45/100 [============>.................] - ETA: 5s - loss: 0.3", 0.45, 5),
        (" 45/100 [============>.................] - ETA: 1:05 - loss: 0.3", 0.45, 65),
        (
            "\x1b[1m45/100\x1b[0m \x1b[32m━━━━━━\x1b[0m\x1b[37m━━━━\x1b[0m \x1b[1m5s\x1b[0m 21ms/step - loss: 0.3",
            0.45,
            5,
        ),
        ("Training ━━━━━━━━━╸━━━━━━  45% 0:00:15", 0.45, 15),
        ("   ━━━━━━━━━━━━━━━━━━━━ 1.2/2.4 MB 5.0 MB/s eta 0:00:01", 0.5, 1),
        ("Epoch 2 ━━━━━━━━━━━ 45/100 0:00:12 • 0:00:15 3.6it/s", 0.45, 15),
        ("step 300/1000 loss 2.31", 0.3, None),
        ("2026-11-15 12:00:01 INFO Step: 300/1000, lr 1e-4", 0.3, None),
        ("iter [ 300/1000] eta: 0:10:00 loss 1", 0.3, 600),
        ("Iter(train) [  50/1000]  lr: 1.0e-03  eta: 1 day, 1:00:00  time: 0.1", 0.05, 90000),
        ("12/50", 0.24, None),
        ("[12/50] Building CXX object main.o", 0.24, None),
        ("Train Epoch: 2 [6400/64000 (10%)]\tLoss: 0.4", 0.1, None),
        ("progress: 42.5%", 0.425, None),
        ("42% done", 0.42, None),
        ("[=====>    ] 50%", 0.5, None),
    ],
)
def test_reads_the_lines_that_training_prints(tail: str, fraction: float, eta_s: float | None):
    reading = read_progress(tail.encode())
    assert reading is not None
    assert reading.fraction == pytest.approx(fraction)
    assert reading.eta_s == eta_s


@pytest.mark.parametrize(
    "tail",
    [
        "",
        "hello",
        "accuracy 93%",
        "2026/11/15 12:00:00 started",
        "15/11/2026",
        "saved to /data/1/2/model.pt",
        "GPU 0: 97% busy, 10/24 GB used by others",
        "ratio 3/2 of 5/0",
        "step 12/0",
        "step 300/200",
        "\udcff\udcfe",
    ],
)
def test_reports_nothing_for_lines_that_only_look_like_progress(tail: str):
    assert read_progress(tail.encode("utf-8", "surrogateescape")) is None


@pytest.mark.parametrize(
    ("tail", "fraction"),
    [
        ("Epoch 3/10\n", 0.2),  # a heading: it begins
        ("Epoch 3/10: loss 0.31 acc 0.9\n", 0.3),  # a summary: it is over
        ("Epoch [3/10] val 0.9", 0.3),
        ("Epoch 0/9\n----------\n", 0.0),
    ],
)
def test_an_epoch_counts_as_done_when_the_line_sums_it_up(tail: str, fraction: float):
    reading = read_progress(tail.encode())
    assert reading is not None
    assert reading.fraction == pytest.approx(fraction)


def test_steps_count_within_their_epoch_and_so_does_the_time_left():
    reading = read_progress(b"Epoch 3/10\n 50/100 [=====>....] - ETA: 10s - loss: 0.3")
    assert reading is not None
    assert reading.fraction == pytest.approx(0.25)
    assert reading.eta_s == pytest.approx(10 + 7 * 20)


def test_a_bar_that_carries_its_epoch_is_read_as_part_of_the_whole():
    reading = read_progress("Epoch 3/10:  50%|█████     | 50/100 [00:10<00:10, 5it/s]".encode())
    assert reading is not None
    assert reading.fraction == pytest.approx(0.25)


def test_a_bar_over_epochs_beats_the_bars_inside_it():
    outer = "Epoch:  30%|███       | 3/10 [00:30<01:10, 10s/it]"
    inner = "Iteration:  90%|█████████ | 90/100 [00:09<00:01, 10it/s]"
    reading = read_progress(f"{outer}\n\r{inner}\x1b[A".encode())
    assert reading is not None
    assert (reading.fraction, reading.eta_s) == (pytest.approx(0.3), 70)


def test_the_newest_reading_wins_over_later_lines_without_one():
    reading = read_progress(b"step 1/10\nstep 2/10\nsaved a checkpoint\nloss 0.3\n")
    assert reading is not None
    assert reading.fraction == pytest.approx(0.2)


def test_a_number_cut_by_the_start_of_the_tail_is_not_read():
    cut = b"00/1000\n" + b"x" * TAIL_BYTES
    assert read_progress(cut) is None


def test_invalid_utf8_does_not_hide_a_reading():
    assert read_progress(b"\xff\xfe\x00 step 5/10 \xff") is not None


@pytest.mark.parametrize("junk", ["=" * 9000, "━" * 3000, "9" * 9000, "1/" * 4000, "5%|" * 3000, "epoch " * 1500])
def test_a_long_repetitive_line_is_read_quickly(junk: str):
    reading = read_progress(junk.encode())  # the time limit of the test is what bites
    assert reading is None or 0 <= reading.fraction <= 1


WORDS = [
    "epoch",
    " ",
    "step",
    "3/10",
    "45%",
    "|",
    "█████",
    "====",
    "[",
    "]",
    "<",
    "00:15",
    "eta:",
    "\r",
    "\n",
    "9999999999999999/1",
]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=40).map("".join))
def test_the_fraction_is_always_between_zero_and_one(text: str):
    reading = read_progress(text.encode("utf-8", "replace"))
    assert reading is None or 0 <= reading.fraction <= 1
    assert reading is None or reading.eta_s is None or reading.eta_s >= 0


@pytest.fixture
def bounded_processor_time() -> Iterator[None]:
    """Fail instead of hanging. Half a megabyte takes milliseconds; with a quadratic pattern it would take minutes."""

    def fail(*_: object) -> None:
        pytest.fail("the search does not end")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, 20)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("bounded_processor_time")
@pytest.mark.parametrize("pieces", [*product(PIECES), *product(PIECES, PIECES)], ids=repr)
def test_no_pattern_is_quadratic_in_the_length_of_a_line(pieces: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser, "LINE_CHARS", 1 << 20)
    hostile = "".join(piece * 8 for piece in pieces).encode()
    found = read_progress(b"\n" + hostile * ((1 << 19) // len(hostile)))  # the first line of a long tail is skipped
    assert found is None or 0 <= found.fraction <= 1


@pytest.mark.parametrize("line", ["1/\n", "(1/2\n", "5%\n", "epoch 1/\n", "epoch 9/1\n", "epoch 9/1x 5%\r", "\n"])
def test_the_number_of_lines_that_are_searched_is_bounded(line: str, monkeypatch: pytest.MonkeyPatch):
    searched: Counter[str] = Counter()
    for name in ("step_in", "epoch_in"):
        monkeypatch.setattr(parser, name, counting(getattr(parser, name), name, searched))
    assert read_progress((line * TAIL_BYTES).encode()[-TAIL_BYTES:]) is None
    assert searched["step_in"] <= parser.MOST_LINES
    assert searched["epoch_in"] <= parser.MOST_EPOCH_LINES


def counting(function: Callable[[str], Any], name: str, calls: Counter[str]) -> Callable[[str], Any]:
    def counted(segment: str) -> Any:
        calls[name] += 1
        return function(segment)

    return counted
