"""A stopped controller: every verb says within seconds that it waits, and why."""

import os
import signal
import subprocess

import pytest

from tarmac.cli.main import VERBS, verb_named
from tests.faults.world import World, eventually

# The words of each verb, so that it asks the controller for something.
WORDS = {
    "add": ["true"], "run": ["true"], "adopt": [str(os.getpid()), "--yes"], "ls": [], "show": ["1"], "log": ["1"],
    "wait": ["1"], "kill": ["1"], "rm": ["1"], "gpus": [], "set": [], "status": [], "serve": [], "stop": [],
    "simulate": ["--from-history", "--nodes", "1x1"], "why": ["1"], "hold": ["1"], "release": ["1"],
    "move": ["1", "1"], "edit": ["1", "-p", "1"], "start": ["1"], "queue": [], "reserve": [],
    "queue pause": [], "queue resume": [], "queue drain": [], "queue stop": ["--requeue"],
    "gpu drain": ["0"], "gpu resume": ["0"], "gpu forget": ["gone"], "gpu slots": ["0", "1"],
    "gpu ignore-process": ["some-program"], "retry": ["1"], "pause": ["1"], "resume": ["1"], "report": [],
    "metrics": [], "web": ["--no-open"], "notice": ["back soon"], "notify": [], "notify ls": [],
    "notify test": ["mail"],
    "sweep": ["true {x}", "x=1,2"], "clone": ["1"], "rerun": ["1"], "rename": ["1", "other"], "tag": ["1", "+good"],
    "note": ["1", "text"], "diff": ["1"], "checkout": ["1", "code"], "results": ["1", "--metric", "acc=(.*)"],
    "history": [], "clean": ["--yes"], "export": ["-"], "template save": ["small", "1"], "template ls": [],
    "template show": ["small"], "template rm": ["small"],
    "node ls": [], "node show": ["here"], "node add": ["nowhere", "--later"], "node edit": ["here", "--port", "22"],
    "node drain": ["here"], "node resume": ["here"], "node rm": ["here"], "node forget": ["here", "--yes"],
    "node login": ["here"],
}  # fmt: skip
ELSEWHERE = {
    "doctor": "its finding says it",
    "gpu": "it only leads to its verbs",
    "node": "it only leads to its verbs",
    "dial-stdio": "it only copies bytes",
    "template": "it only leads to its verbs",
    "backup": "it works without the controller",
    "import": "it checks its file first",
    "restore": "it checks its file first",
}
AT_ONCE = 20
EVERY = [name for verb in VERBS for name in (verb, *[f"{verb} {more}" for more in verb_named(verb).verbs])]


def test_every_verb_is_here() -> None:
    assert {*EVERY} == {*WORDS, *ELSEWHERE}


@pytest.fixture
def stopped(world: World) -> int:
    """The pid of a controller that is stopped."""
    world.home.tarmac("add", "-g", "0", "--hold", "true")
    (controller,) = world.seen("controller")
    os.kill(controller.pid, signal.SIGSTOP)
    return controller.pid


def first_words(command: subprocess.Popen[bytes]) -> str:
    assert command.stderr is not None
    return command.stderr.readline().decode() + command.stderr.readline().decode()


@pytest.mark.parametrize("start", range(0, len(WORDS), AT_ONCE))
def test_every_verb_says_that_it_waits(world: World, stopped: int, start: int) -> None:
    verbs = list(WORDS)[start : start + AT_ONCE]
    commands = {verb: world.home.start(*verb.split(), *WORDS[verb]) for verb in verbs}
    try:
        for verb, command in commands.items():
            said = first_words(command)
            assert said.startswith(f"tarmac: the controller (pid {stopped}) has not answered for 5 s; still wait"), verb
            assert f"run `kill -CONT {stopped}`" in said, verb
            assert command.poll() is None, f"{verb} still waits"
    finally:
        for command in commands.values():
            command.kill()
            command.communicate()
        os.kill(stopped, signal.SIGCONT)


def test_doctor_finds_it(world: World, stopped: int) -> None:
    done = world.home.tarmac("doctor")
    os.kill(stopped, signal.SIGCONT)
    assert done.returncode == 1
    assert "it is stopped" in done.stdout


@pytest.mark.parametrize("words", [("wait", "1"), ("log", "-f", "1"), ("run", "-g", "0", "sleep", "600")])
def test_a_verb_that_waits_notices_it_too(world: World, words: tuple[str, ...]) -> None:
    world.home.tarmac("add", "-g", "0", "-c", "sleep 600")
    command = world.home.start(*words)
    try:
        (controller,) = world.seen("controller")
        eventually(lambda: _is_waiting(controller.pid, command.pid), "it waits for the job")
        os.kill(controller.pid, signal.SIGSTOP)
        assert f"(pid {controller.pid}) has not answered" in first_words(command)
        os.kill(controller.pid, signal.SIGCONT)
        world.home.tarmac("kill", "all", "--grace", "0")
        command.communicate(timeout=60)
        assert command.returncode == (0 if words[0] == "log" else 137)
    finally:
        command.kill()
        command.communicate()


def _is_waiting(controller: int, command: int) -> bool:
    """True once the command has been idle for a moment, with nothing but its connection to wait for."""
    before = _cpu(command)
    subprocess.run(["sleep", "0.5"], check=True)
    return bool(controller) and before == _cpu(command) > 0


def _cpu(pid: int) -> int:
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])
