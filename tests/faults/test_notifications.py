"""Notifications survive kills: none is lost, and none is sent twice unless a server's answer was lost."""

import json
import os
import random
import re
import signal

import pytest

from tests.home import Home, until
from tests.receivers import Webhook, configure, webhook

ROUNDS = 8


def told(hook: Webhook) -> list[int]:
    """The jobs whose end was told, once for each time."""
    texts = [f"{message['title']}\n{message['message']}" for message in hook.messages]
    return sorted(int(job) for text in texts for job in re.findall(r"^job (\d+) succeeded", text, re.MULTILINE))


def test_each_end_is_reported_exactly_once_although_the_controller_is_killed_again_and_again(home: Home) -> None:
    chance = random.Random(7)
    with webhook() as hook:
        configure(home, {"hook": hook.url()})
        jobs = []
        for _ in range(ROUNDS):
            jobs += home.client().submit_many(
                [{"command": ["sleep", str(chance.random() / 5)], "gpus": 0, "notify": ["hook"]} for _ in range(3)]
            )
            pid = home.pid_of("controller")
            until(lambda: False, chance.random() / 2)  # a kill at any moment: while jobs end, or messages are sent
            os.kill(pid, signal.SIGKILL)
            home.tarmac("status")
        assert until(lambda: set(told(hook)) == set(jobs), 60), (told(hook), jobs)
        assert until(lambda: home.client().status()["notifications"] is None)
        assert told(hook) == jobs


@pytest.mark.parametrize("point", ["controller:before-commit", "controller:in-commit", "controller:after-commit"])
def test_an_end_is_reported_once_if_the_controller_dies_around_its_commit(home: Home, point: str) -> None:
    with webhook() as hook:
        configure(home, {"hook": hook.url()})
        for nth in range(1, 7):  # one of these is the commit of the end
            job = home.add("-g", "0", "--notify", "hook", "-c", "sleep 0.3")
            os.kill(json.loads(home.tarmac("status", "--json").stdout)["controller_pid"], signal.SIGKILL)
            home.environment["TARMAC_CRASH_AT"] = f"{point}@{nth}"
            doomed = home.start("serve")
            del home.environment["TARMAC_CRASH_AT"]  # once it has died, the next command starts another one
            assert until(lambda job=job: home.tarmac("status") and job in told(hook), 60), (nth, told(hook))
            doomed.kill()  # it may still be about to crash, or wait for a controller that was faster
            doomed.wait()
        assert told(hook) == sorted(set(told(hook)))


def test_a_message_is_not_lost_if_its_sender_dies_after_the_server_accepted_it(home: Home) -> None:
    with webhook() as hook:
        configure(home, {"hook": hook.url()})
        home.environment["TARMAC_CRASH_AT"] = "notify:after-send"
        job = home.add("-g", "0", "--notify", "hook", "true")
        assert until(lambda: job in told(hook))
        assert until(lambda: "ended unexpectedly" in home.tarmac("status").stdout)
        home.tarmac("stop")
        del home.environment["TARMAC_CRASH_AT"]
        home.tarmac("status")
        assert until(lambda: home.client().status()["notifications"] is None, 30)


def test_nothing_is_sent_twice_if_it_could_not_be_recorded_because_the_database_was_gone(home: Home) -> None:
    with webhook() as hook:
        configure(home, {"hook": hook.url()})
        hook.hold()
        job = home.add("-g", "0", "--notify", "hook", "true")
        assert until(lambda: hook.asked)
        for path in home.path.glob("tarmac.db*"):
            path.unlink()  # the controller puts them back, with everything that was committed
        hook.release()
        assert until(lambda: home.client().status()["notifications"] is None, 30)
        home.tarmac("stop")
        later = home.add("-g", "0", "--notify", "hook", "true")
        assert until(lambda: later in told(hook))
        assert told(hook) == [job, later]
