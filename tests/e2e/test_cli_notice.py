"""`tarmac notice`: shown above `ls` and `gpus`, kept over restarts."""

import json
import os
import signal

import pytest

from tests.home import Home, until
from tests.terminal import Terminal

TEXT = "driver update at 18:00"


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


def test_a_notice_is_shown_above_ls_and_gpus_until_it_is_cleared(home: Home) -> None:
    assert home.tarmac("notice", TEXT).returncode == 0
    home.add("-g", "0", "true")
    for verb in ("ls", "gpus"):
        shown = home.tarmac(verb)
        assert shown.stderr.startswith(f"Notice: {TEXT} ("), shown
        assert "Notice" not in shown.stdout  # scripts read the table
    assert home.tarmac("notice").stdout.startswith(f"Notice: {TEXT} (")
    assert json.loads(home.tarmac("notice", "--json").stdout)["notice"]["text"] == TEXT
    assert home.tarmac("notice", "--clear").returncode == 0
    for verb in ("ls", "gpus"):
        assert "Notice" not in home.tarmac(verb).stderr
    assert "No notice" in home.tarmac("notice").stderr


def test_it_is_above_the_table_on_a_terminal(home: Home) -> None:
    assert home.tarmac("notice", *TEXT.split()).returncode == 0  # unquoted words
    job = home.add("-g", "0", "--name", "steady", "true")
    home.tarmac("wait", str(job))
    for words, below in (
        (["ls"], "steady"),
        (["gpus"], "MEMORY"),
        (["ls", "-w"], "steady"),
        (["gpus", "-w"], "MEMORY"),
    ):
        with Terminal(home, *words) as terminal:
            screen = until(lambda terminal=terminal, below=below: below in terminal.text and terminal.text)
            assert screen, words
            assert 0 <= screen.find(TEXT) < screen.find(below), screen


def test_it_survives_a_killed_controller_and_a_stop(home: Home) -> None:
    assert home.tarmac("notice", TEXT).returncode == 0
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    assert TEXT in home.tarmac("gpus").stderr
    assert home.tarmac("stop").returncode == 0
    assert TEXT in home.tarmac("ls").stderr


def test_control_characters_do_not_reach_the_terminal(home: Home) -> None:
    assert home.tarmac("notice", "red \x1b[31m alert\nsecond line").returncode == 0
    shown = home.tarmac("ls").stderr
    assert "\x1b" not in shown
    assert "second line" in shown


def test_bad_arguments_are_refused(home: Home) -> None:
    assert home.tarmac("notice", TEXT).returncode == 0
    for words in (["--clear", "now"], [""], ["x" * 1001]):
        refused = home.tarmac("notice", *words)
        assert refused.returncode == 2, refused
        assert "notice" in refused.stderr
    assert TEXT in home.tarmac("ls").stderr
