"""Requests of the Python client about waiting jobs and the queue."""

import time

import pytest

from tarmac.client import Client
from tarmac.errors import Conflict
from tests.api.served import Served

SLEEP = ["sleep", "60"]


@pytest.fixture
def client(api: Served) -> Client:
    return api.client


def test_a_job_is_held_changed_moved_released_and_explained(client: Client) -> None:
    running = client.submit(SLEEP, gpus=2, time_limit_s=3600)
    job = client.submit(SLEEP, gpus=2, entry="held", after=[str(running.id)])
    assert (job.state, job.held_by, job.after) == ("held", job.owner, [f"{running.id}:ok"])
    edited = client.edit(job.id, after=None, time_limit_s=60, begin_at=time.time() - 5)
    assert (edited.after, edited.time_limit_s) == ([], 60)
    assert edited.begin_at is not None
    assert edited.begin_at.tzinfo is not None
    assert client.release(job.id) == {"released": [job.id], "not_held": []}
    other = client.submit(SLEEP, gpus=2)
    assert client.move(other.id, 1) == {"position": 1, "priority": 10}
    assert client.job(job.id).position == 2
    assert client.why(job.id)["ahead"] == 1
    assert client.hold(other.id, running.id) == {"held": [other.id], "not_waiting": [running.id]}
    with pytest.raises(Conflict, match="is held by job"):
        client.start_now(other.id)
    assert len(client.start_now(other.id, gpus_on=[0, 1], yes=True)) == 2


def test_the_queue_is_paused_drained_stopped_and_resumed(client: Client) -> None:
    job = client.submit(SLEEP, gpus=1)
    try:
        assert client.pause_queue("tea")["reason"] == "tea"
        assert client.drain_queue()["draining"]
        assert client.stop_queue(grace_s=0) == [job.id]
        assert client.queue()["paused"]
    finally:
        assert not client.resume_queue()["paused"]


def test_gpus_are_reserved_and_released(client: Client) -> None:
    made = client.reserve(1, begins_at=time.time() + 3600, for_s=60, user="bob")
    assert [one["owner"] for one in client.reservations()] == ["bob"]
    client.end_reservation(made["id"])
    assert client.reservations() == []


def test_an_array_is_submitted_at_once(client: Client) -> None:
    ids = client.submit_many(
        [{"command": SLEEP, "gpus": 0, "max_running": 1}] * 2, group={"kind": "array"}, entry="draft"
    )
    assert [(job.group, job.index, job.state) for job in client.jobs(ids)] == [
        (ids[0], 0, "draft"),
        (ids[0], 1, "draft"),
    ]
