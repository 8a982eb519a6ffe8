"""`ls -w` and `gpus -w` in windows of all sizes, also while the size changes."""

import os
import signal

import pytest

from tarmac.cli.render.text import cells
from tests.home import Home, until
from tests.terminal import Terminal

SIZES = ((200, 30), (40, 12), (100, 8), (25, 5), (60, 24), (12, 3), (80, 24))


@pytest.fixture(autouse=True)
def some_jobs(shared_home: Home) -> None:
    if "training" in shared_home.tarmac("ls").stdout:
        return
    shared_home.add("-g", "2", "-n", "训练" * 30, "sleep", "600")
    for number in range(12):
        shared_home.add("-g", "2", "--time", "2h", "-n", f"training-{number}" * 9, "python", "train.py", "x" * 300)
    shared_home.tarmac("gpu", "drain", "1", "--reason", "a long reason that does not fit beside the row " * 3)


@pytest.mark.parametrize("verb", ["ls", "gpus"])
def test_a_frame_fits_the_window_whatever_its_size(shared_home: Home, verb: str) -> None:
    with Terminal(shared_home, verb, "-w", columns=120, lines=20) as terminal:
        assert until(terminal.frames)
        for columns, lines in SIZES:
            before = len(terminal.frames())
            terminal.resize(columns, lines)
            assert until(lambda: len(terminal.frames()) > before + 1), "the window is drawn again"  # noqa: B023
            frame = terminal.frames()[-2]  # the last one may be incomplete
            assert len(frame) <= lines, (columns, lines)
            assert all(cells(line) <= columns for line in frame), (columns, [cells(line) for line in frame])
        terminal.type(b"q")
        assert terminal.ends() == 0
        assert terminal.text.rindex("\x1b[?7h") > terminal.text.rindex("\x1b[?7l"), "lines wrap again"


@pytest.mark.parametrize("verb", ["ls", "gpus"])
def test_a_resize_is_drawn_at_once(shared_home: Home, verb: str) -> None:
    """Without waiting for the next change: the first frame after the signal has the new size."""
    with Terminal(shared_home, verb, "-w", columns=120, lines=20) as terminal:
        assert until(lambda: len(terminal.frames()) > 1)
        terminal.resize(30, 6)
        assert until(lambda: all(cells(line) <= 30 for line in terminal.frames()[-2]))
        assert until(lambda: len(terminal.frames()[-2]) <= 6)


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 200])
def test_ls_and_gpus_fit_the_terminal(shared_home: Home, columns: int) -> None:
    for verb in ("ls", "gpus"):
        with Terminal(shared_home, verb, columns=columns, NO_COLOR="1") as terminal:
            assert terminal.ends() == 0
            assert all(cells(line) <= columns for line in terminal.text.splitlines())


@pytest.mark.parametrize("verb", ["ls", "gpus"])
def test_the_screen_says_why_states_are_stale_while_they_are(home: Home, verb: str) -> None:
    home.add("sleep", "600")
    agent = home.pid_of("agent")
    with Terminal(home, verb, "-w", columns=120, lines=20, NO_COLOR="1") as terminal:
        assert until(lambda: len(terminal.frames()) > 1)
        assert not is_noted(terminal)
        os.kill(agent, signal.SIGSTOP)
        try:
            assert until(lambda: is_noted(terminal))
            seen = len(terminal.frames())
            assert until(lambda: len(terminal.frames()) > seen + 2)
            assert is_noted(terminal), "as long as it is so"
        finally:
            os.kill(agent, signal.SIGCONT)
        assert until(lambda: not is_noted(terminal))
        terminal.type(b"q")
        assert terminal.ends() == 0


def is_noted(terminal: Terminal) -> bool:
    """In the last complete frame."""
    return any("has not answered" in line for line in terminal.frames()[-2])
