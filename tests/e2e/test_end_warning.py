"""`--signal USR1@120` from every interface: a warning before the time limit and before a preemption."""

import json

import pytest

from tarmac.client import Client
from tarmac.errors import UserError
from tests.home import Home, until

SAVES = "trap 'echo saved' USR1; trap 'echo stopped; exit 0' TERM; echo ready; while :; do sleep 0.01; done"


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


@pytest.fixture
def client(home: Home) -> Client:
    return home.client()


def output(client: Client, job: int) -> list[str]:
    """Without what bash says about its `sleep`, which the signal ended."""
    words = b"".join(client.logs(job)).decode().split()
    return [word for word in words if word in {"ready", "saved", "stopped"}]


def test_a_job_is_warned_before_its_limit(home: Home, client: Client) -> None:
    job = home.add("-g", "0", "--time", "6s", "--signal", "B:USR1@3", "-c", SAVES)
    ended = client.wait(job)[0]
    assert (ended.state, ended.reason) == ("failed", "timeout")
    assert output(client, job) == ["ready", "saved", "stopped"]
    shown = home.tarmac("show", str(job)).stdout
    assert "SIGUSR1 3s before the time limit, to the main process" in shown
    assert json.loads(home.tarmac("show", str(job), "--json").stdout)[0]["warn"] == "B:USR1@3"


def test_a_warning_and_a_stop_signal_together(home: Home, client: Client) -> None:
    script = "trap 'echo saved' USR1; trap 'echo stopped; exit 0' INT; echo ready; while :; do sleep 0.01; done"
    job = home.add("-g", "0", "--time", "6s", "--signal", "USR1@3s", "--signal", "INT", "-c", script)
    client.wait(job)
    assert output(client, job) == ["ready", "saved", "stopped"]
    record = client.job(job)
    assert (record.stop_signal, record.warn) == (2, "USR1@3s")


def test_a_job_is_warned_before_a_preemption(home: Home, client: Client) -> None:
    job = client.submit(SAVES, gpus=2, tier="preemptible", warn="B:USR1@60", grace_s=4.0)
    assert until(lambda: is_ready(client, job.id))
    urgent = home.add("--tier", "urgent", "true")
    client.wait(urgent)
    assert output_of_first(client, job.id) == ["ready", "saved", "stopped"]
    assert until(lambda: client.job(job).attempt == 2)
    client.kill(job, grace_s=0)


def is_ready(client: Client, job: int) -> bool:
    return client.job(job).state == "running" and output(client, job) == ["ready"]


def output_of_first(client: Client, job: int) -> list[str]:
    words = b"".join(client.logs(job, attempt=1)).decode().split()
    return [word for word in words if word in {"ready", "saved", "stopped"}]


def test_a_stopped_queue_warns_too_and_a_kill_does_not(home: Home, client: Client) -> None:
    job = client.submit(SAVES, gpus=0, time_limit_s=3600.0, warn="B:USR1@60", grace_s=4.0)
    assert until(lambda: is_ready(client, job.id))
    client.stop_queue()
    assert until(lambda: client.job(job).state == "queued")
    assert output_of_first(client, job.id) == ["ready", "saved", "stopped"]
    client.resume_queue()
    assert until(lambda: (again := client.job(job)).attempt == 2 and again.state == "running")
    assert until(lambda: is_ready(client, job.id))
    client.kill(job)
    client.wait(job)
    assert output(client, job.id) == ["ready", "stopped"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--signal", "USR1@120"], "signal USR1@120 warns before the time limit, but the job has none"),
        (
            ["--signal", "USR1@120", "--time", "1m"],
            "would come before the start of a job with a time limit of 60 s",
        ),
        (["--signal", "USR1@60", "--time", "60s"], "would come before the start"),
        (["--signal", "KILL@60", "--time", "1h"], "no process can catch that signal"),
        (["--signal", "USR1@", "--time", "1h"], "after the @ it must have a time"),
        (["--signal", "R:USR1@60", "--time", "1h"], "it must be [B:]SIGNAL@TIME"),
        (["--signal", "NO@60", "--time", "1h"], "before the @ it must have a signal"),
        (["--signal", "NO"], "it must be a signal, such as USR1, INT or 10, or a warning"),
        (["--signal", "USR1", "--signal", "INT"], "--signal is given 2 times"),
        (["--signal", "USR1@5", "--signal", "INT@6", "--time", "1h"], "--signal is given 2 times"),
    ],
)
def test_bad_warnings_are_refused_at_the_submit(shared_home: Home, words: list[str], message: str) -> None:
    done = shared_home.tarmac("add", *words, "true")
    assert done.returncode == 2
    assert message in done.stderr


def test_a_preemptible_job_needs_no_limit(shared_home: Home) -> None:
    job = shared_home.add("--hold", "--tier", "preemptible", "--signal", "USR1@120", "true")
    done = shared_home.tarmac("edit", str(job), "--tier", "normal")
    assert done.returncode == 2
    assert "but the job has none" in done.stderr
    assert shared_home.tarmac("edit", str(job), "--tier", "normal", "--time", "1h").returncode == 0
    for words in (["--time", "none"], ["--time", "90s"]):
        assert shared_home.tarmac("edit", str(job), *words).returncode == 2


def test_the_http_api_says_what_is_wrong(shared_home: Home) -> None:
    with pytest.raises(UserError, match=r"signal USR1 is not a warning: it must be \[B:\]SIGNAL@TIME"):
        shared_home.client().submit(["true"], warn="USR1", time_limit_s=60.0)
