"""The Python API against a real controller."""

import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tarmac.client import Client
from tarmac.errors import NotFound, UserError
from tests.home import Home, until


@pytest.fixture
def client(home: Home) -> Client:
    return home.client()


def test_submit_returns_a_job_and_wait_its_end(client: Client) -> None:
    job = client.submit(["sh", "-c", "exit 3"], name="three", tags=["a"], priority=4)
    assert (job.name, job.tags, job.priority, job.gpus_asked) == ("three", ["a"], 4, 1)
    (ended,) = client.wait(job.id)
    assert (ended.state, ended.exit_code, ended.returncode, ended.is_ended) == ("failed", 3, 3, True)
    assert ended.started_at is not None
    assert ended.ended_at is not None
    assert timedelta(0) <= ended.ended_at - ended.started_at < timedelta(minutes=1)
    assert abs(datetime.now(UTC) - ended.submitted_at) < timedelta(minutes=1)


def test_a_string_is_a_shell_string(client: Client) -> None:
    job = client.submit("echo $((6*7))", gpus=0)
    client.wait(job.id)
    assert b"".join(client.logs(job.id)) == b"42\n"


def test_many_jobs_in_one_submit(client: Client) -> None:
    ids = client.submit_many({"command": ["true"], "gpus": 0, "name": f"n{number}"} for number in range(2500))
    assert ids == list(range(1, 2501))
    assert [job.id for job in client.jobs(newest_first=True, fields=["id"])] == ids[::-1]
    assert [job.name for job in client.jobs(["7-9"])] == ["n6", "n7", "n8"]


def test_the_same_token_gives_the_same_jobs(client: Client) -> None:
    first = client.submit_many([{"command": "true"}], token="once")
    assert client.submit_many([{"command": "true"}], token="once") == first


def test_one_bad_job_refuses_them_all(client: Client) -> None:
    with pytest.raises(UserError):
        client.submit_many([{"command": "true"}, {"command": "true", "gpus": 99}])
    assert list(client.jobs()) == []


def test_wait_times_out(client: Client) -> None:
    job = client.submit(["sleep", "600"])
    with pytest.raises(TimeoutError, match="job 1 has not ended"):
        client.wait(job.id, timeout_s=0.1)


def test_paths_are_relative_to_the_callers_directory(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = client.submit("pwd", log=Path("out.log"))
    client.wait(job.id)
    assert (tmp_path / "out.log").read_text() == f"{tmp_path}\n"


def test_kill_and_rm(client: Client) -> None:
    job = client.submit(["sleep", "600"])
    answer = {"asked": [job.id], "already_ended": [], "not_asked": [], "unwritten": None}
    assert client.kill("last") == answer
    assert client.wait("last")[0].state == "cancelled"
    assert client.rm(job.id) == [job.id]
    with pytest.raises(NotFound):
        client.job(job.id)


def test_gpus_and_status(client: Client) -> None:
    assert [(gpu.index, gpu.memory_total_bytes) for gpu in client.gpus()] == [(0, 24 << 30), (1, 24 << 30)]
    assert client.status()["queued"] == 0


def test_events_continue_across_a_restart(home: Home, client: Client) -> None:
    client.start = True
    seen: list[tuple[int, str]] = []
    events = client.events()
    first = home.add("true")
    for event in events:
        if event.job is not None:
            seen.append((event.job.id, event.job.state))
            if event.job.is_ended:
                break
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    second = home.add("true")
    for event in events:
        if event.job is not None:
            seen.append((event.job.id, event.job.state))
            if event.job.id == second and event.job.is_ended:
                break
    assert (first, "succeeded") in seen
    assert (second, "succeeded") in seen


def test_a_client_starts_the_controller(tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARMAC_FAKE_GPUS", "1")
    with Client(home.path) as client:
        assert len(client.gpus()) == 1
    assert until(lambda: len([c for c in home.processes().values() if "-m tarmac.controller" in c]) == 1)


def test_a_forked_client_opens_a_new_connection(client: Client) -> None:
    client.status()
    child = os.fork()
    if child == 0:
        os._exit(0 if client.status()["queued"] == 0 else 1)
    assert client.status()["queued"] == 0
    assert os.waitpid(child, 0)[1] == 0


def test_settings_are_shown_set_and_reset(client: Client) -> None:
    assert {setting.name for setting in client.settings()} >= {"max_load", "idle_action", "keep_gpu_memory"}
    changed = client.set("max_load", 0.2)
    assert (changed.value, changed.origin, client.setting("max_load")) == ("0.2", "live", changed)
    assert client.reset("max_load").origin == "default"
    with pytest.raises(NotFound, match="max_load"):
        client.set("max_laod", 1)


def test_gpus_are_drained_resumed_and_get_slots(client: Client) -> None:
    uuid = client.gpus()[1].uuid
    assert client.drain(1, reason="fan") == [uuid]
    assert [(gpu.drained, gpu.reason) for gpu in client.gpus()] == [(False, None), (True, "fan")]
    assert client.resume(uuid) == [uuid]
    assert client.slots(0, 1, slots=3) == [gpu.uuid for gpu in client.gpus()]
    assert [gpu.slots for gpu in client.gpus()] == [3, 3]
    assert "Xephyr" in client.ignore_process("Xephyr")
    assert "Xephyr" not in client.ignore_process("Xephyr", forget=True)


def test_a_job_record_has_its_gpu_options(client: Client) -> None:
    job = client.submit("true", gpu_memory_bytes=8 << 30, gpus_on=[1], memory_bytes=1 << 20, cpus=1)
    assert (job.gpus_asked, job.gpu_memory_bytes, job.gpus_on) == (1, 8 << 30, [1])
    assert client.wait(job.id)[0].gpus[0]["index"] == 1
