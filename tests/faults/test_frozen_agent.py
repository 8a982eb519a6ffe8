"""An agent or a probe that is stopped (SIGSTOP): every command answers soon and says what is old or must wait."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent_peer import children
from tests.home import Home, until

SOON_S = 20  # they take a second; on a loaded machine, `doctor` has taken more than eight
NOTE = "the agent has not answered for "


@pytest.fixture
def frozen(home: Home) -> Iterator[int]:
    """The pid of an agent that is stopped while its job runs, job 1."""
    home.add("-g", "1", "--", "sh", "-c", "echo here; sleep 300")
    assert until(lambda: "here" in home.tarmac("log", "1").stdout)
    agent = home.pid_of("agent")
    os.kill(agent, signal.SIGSTOP)
    yield agent
    try:
        os.kill(agent, signal.SIGCONT)
    except ProcessLookupError:
        return


def soon(home: Home, *words: str) -> subprocess.CompletedProcess[str]:
    return home.tarmac(*words, timeout_s=SOON_S)


@pytest.mark.usefixtures("frozen")
def test_tables_say_how_old_they_are(home: Home) -> None:
    for words in (["ls"], ["show", "1"], ["gpus"], ["status"], ["why", "1"]):
        done = soon(home, *words)
        assert done.returncode == 0, done.stderr
        assert NOTE in done.stderr, words
        assert "1" in done.stdout
    assert "does not answer" in soon(home, "status").stdout


@pytest.mark.usefixtures("frozen")
def test_json_says_how_old_it_is(home: Home) -> None:
    assert json.loads(soon(home, "ls", "--json").stdout)[0]["stale_s"] > 0
    assert json.loads(soon(home, "gpus", "--json").stdout)[0]["stale_s"] > 0
    status = json.loads(soon(home, "status", "--json").stdout)
    assert status["agent_answers"] is False
    assert status["agent_silent_s"] > 0


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("words", [["log", "1"], ["log", "-n", "3", "1"]])
def test_a_log_cannot_be_read(home: Home, words: list[str]) -> None:
    done = soon(home, *words)
    assert done.returncode == 5
    assert "the agent does not answer" in done.stderr


def test_a_follower_is_told_and_continues(home: Home, frozen: int) -> None:
    follower = home.start("log", "-f", "1")
    assert follower.stderr is not None
    assert follower.stdout is not None
    assert b"the agent does not answer; waiting for it" in follower.stderr.readline()
    os.kill(frozen, signal.SIGCONT)
    assert follower.stdout.readline() == b"here\n"
    follower.kill()
    follower.communicate()


def test_a_signal_and_a_start_wait_for_the_agent(home: Home, frozen: int) -> None:
    added = soon(home, "add", "-g", "0", "--", "true")
    assert added.returncode == 0, added.stderr
    killed = soon(home, "kill", "1")
    assert killed.returncode == 0, killed.stderr
    assert NOTE in killed.stderr
    os.kill(frozen, signal.SIGCONT)
    assert until(lambda: home.client().job(1).state == "cancelled")
    assert until(lambda: home.client().job(2).state == "succeeded")
    assert NOTE not in soon(home, "ls").stderr


def test_doctor_says_what_to_do(home: Home, frozen: int) -> None:
    done = soon(home, "doctor")
    assert f"kill -CONT {frozen}" in done.stdout
    assert done.returncode != 0


def test_stop_does_not_wait_for_it(home: Home, frozen: int) -> None:
    controller = home.pid_of("controller")
    done = soon(home, "stop")
    assert done.returncode == 5
    assert f"the agent (pid {frozen}) does not answer" in done.stderr
    assert until(lambda: not Path(f"/proc/{controller}").exists())
    os.kill(frozen, signal.SIGCONT)
    assert until(lambda: not Path(f"/proc/{frozen}").exists()), "it was asked to end"


def test_a_frozen_probe_does_not_matter(home: Home) -> None:
    job = home.add("-g", "1", "--", "sleep", "300")
    assert until(lambda: home.client().job(job).state == "running")
    (probe,) = children(home.pid_of("agent"), "tarmac-probe")
    os.kill(probe, signal.SIGSTOP)
    for words in (["ls"], ["gpus"], ["status"], ["log", "1"], ["kill", "1"]):
        done = soon(home, *words)
        assert done.returncode == 0, done.stderr
        assert NOTE not in done.stderr
    assert until(lambda: not Path(f"/proc/{probe}").exists(), 60), "the agent replaces it"
