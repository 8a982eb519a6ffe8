"""Notifications about the queue as a whole: it is empty; a GPU stays free while jobs wait."""

from collections.abc import Iterator

import pytest

from tests.home import Home, until
from tests.receivers import Webhook, configure, webhook


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


def subscribed(home: Home, hook: Webhook, events: str, settings: str = "") -> None:
    configure(
        home,
        {"hook": hook.url()},
        f'[notify]\nqueue = "hook"\nqueue_on = "{events}"',
        settings=f"notify_digest_s = 0\nnotify_retry_s = 1\n{settings}",
    )


def test_the_queue_is_empty_once_the_last_job_has_ended(home: Home, hook: Webhook) -> None:
    subscribed(home, hook, "queue-empty")
    home.add("--hold", "true")  # a person holds it back
    blocker = home.add("-g", "2", "sleep", "600")
    home.add("-g", "2", "true")
    home.tarmac("kill", str(home.add("-g", "0", "sleep", "600")))
    assert until(lambda: home.client().job(blocker).state == "running")
    assert hook.messages == []
    home.tarmac("kill", str(blocker))
    (message,) = hook.gets(1)
    assert message["title"].startswith("the queue is empty")


def test_a_gpu_that_stays_free_while_jobs_wait_is_reported_once(home: Home, hook: Webhook) -> None:
    subscribed(home, hook, "gpu-idle", "gpu_idle_s = 1")
    holder = home.add("-g", "1", "sleep", "600")
    home.add("-g", "2", "true")  # waits, although a GPU is free
    (message,) = hook.gets(1)
    assert message["title"].startswith("GPU 1 has been free for")
    assert "although 1 job waits" in message["title"]
    home.add("-g", "2", "-n", "another", "true")
    home.tarmac("kill", str(holder))
    home.tarmac("wait", "all")
    home.add("-g", "1", "sleep", "600")
    home.add("-g", "2", "true")
    assert until(lambda: len(hook.messages) >= 2, 30)
    assert len(hook.messages) == 2  # again, after it was used


def test_a_free_gpu_is_not_reported_while_the_queue_is_paused_or_only_cpu_jobs_wait(home: Home, hook: Webhook) -> None:
    subscribed(home, hook, "gpu-idle,queue-empty", "gpu_idle_s = 1\nmax_cpu_jobs = 1")
    home.tarmac("queue", "pause")
    waiting = home.add("-g", "1", "true")
    first = home.add("-g", "0", "-n", "first", "sh", "-c", "sleep 3")
    home.tarmac("edit", str(waiting), "--begin", "in 1h")
    home.tarmac("queue", "resume")
    second = home.add("-g", "0", "true")
    home.tarmac("wait", f"{first}", f"{second}")
    home.tarmac("kill", str(waiting))
    hook.gets(1)
    assert [title.partition(" [")[0] for title in hook.titles()] == ["the queue is empty: no job waits or runs"]


def test_several_events_of_the_queue_and_of_jobs_make_one_message(home: Home, hook: Webhook) -> None:
    configure(home, {"hook": hook.url()}, '[notify]\nqueue = "hook"\ndefault = "hook"', settings="notify_digest_s = 2")
    home.add("-g", "0", "-n", "last", "true")
    (message,) = hook.gets(1)
    assert message["title"].startswith("2 events")
    assert "(last) succeeded" in message["message"]
    assert "the queue is empty" in message["message"]
