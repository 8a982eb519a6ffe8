"""`pause` and `resume` as users see them."""

import json
import os
from pathlib import Path

import pytest

from tarmac.client import Client
from tests.home import Home, until

TICKS = "while :; do echo >> {}; sleep 0.01; done"


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


@pytest.fixture
def client(home: Home) -> Client:
    return home.client()


def run(client: Client, *, gpus: int = 2, shell: str = "sleep 1000", **more: object) -> int:
    job = client.submit(shell, gpus=gpus, **more)  # type: ignore[arg-type]
    assert until(lambda: client.job(job).state == "running")
    return job.id


def test_a_job_pauses_and_goes_on(home: Home, client: Client, tmp_path: Path) -> None:
    ticks = tmp_path / "ticks"
    job = run(client, shell=TICKS.format(ticks))
    assert until(ticks.exists)
    done = home.tarmac("pause", str(job))
    assert (done.returncode, done.stdout + done.stderr) == (0, ""), "silent in scripts"
    assert until(lambda: is_still(ticks))
    shown = client.job(job)
    assert (shown.state, [gpu["index"] for gpu in shown.gpus]) == ("paused", [0, 1])
    assert shown.paused_at is not None
    assert home.tarmac("ls").stdout.splitlines()[1].split()[1] == "paused"
    assert f"it keeps its GPUs; `tarmac resume {job}` continues it" in home.tarmac("show", str(job)).stdout
    waiting = home.add("true")
    assert f"job {job} is paused and keeps what it has" in home.tarmac("why", str(waiting)).stdout
    assert f"job {job} is paused and keeps what it has" in home.tarmac("show", str(waiting)).stdout
    assert "so its end is not known" in home.tarmac("why", str(job)).stdout
    elapsed_s = client.job(job).elapsed_s
    assert until(lambda: client.job(job).pause_s > 1)
    assert client.job(job).elapsed_s == elapsed_s
    done = home.tarmac("resume", str(job))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    size = ticks.stat().st_size
    assert until(lambda: ticks.stat().st_size > size)
    assert client.job(job).state == "running"
    client.kill(job)
    ended = client.wait(job)[0]
    assert ended.pause_s > 1
    assert " in all" in home.tarmac("show", str(job)).stdout
    assert [event["kind"] for event in client.story(job)].count("JobsPaused") == 1


def is_still(path: Path) -> bool:
    before = path.stat().st_size
    return not until(lambda: path.stat().st_size > before, 0.3)


def test_a_paused_job_can_be_killed(home: Home, client: Client) -> None:
    polite = run(client, gpus=1, shell="trap 'echo saved; exit 3' TERM; while :; do sleep 0.01; done")
    rough = run(client, gpus=1)
    assert home.tarmac("pause", str(polite), str(rough)).returncode == 0
    assert home.tarmac("kill", str(polite)).returncode == 0
    assert home.tarmac("kill", str(rough), "--grace", "0").returncode == 0
    ended = client.wait([polite, rough])
    assert [job.state for job in ended] == ["cancelled", "cancelled"]
    assert ended[1].signal == 9


def test_what_does_not_run_cannot_be_paused(home: Home, client: Client) -> None:
    ended = home.add("-g", "0", "true")
    client.wait(ended)
    held = home.add("--hold", "true")
    done = home.tarmac("pause", str(ended))
    assert (done.returncode, done.stderr) == (1, f"tarmac: job {ended} has ended (succeeded) and cannot be paused\n")
    done = home.tarmac("pause", str(held))
    assert (done.returncode, done.stderr) == (1, f"tarmac: job {held} is held and does not run\n")
    draft = home.add("--draft", "true")
    assert home.tarmac("pause", str(draft)).stderr == f"tarmac: job {draft} is a draft and does not run\n"
    waiting = home.add("-g", "0", "--begin", "in 3h", "true")
    assert f"is not running (queued); run `tarmac hold {waiting}`" in home.tarmac("pause", str(waiting)).stderr
    assert home.tarmac("pause", "--json", str(held)).returncode == 1, "the same code with --json"
    assert home.tarmac("resume", "--json", str(held)).returncode == 1
    done = home.tarmac("resume", str(held))
    assert done.returncode == 1
    assert f"job {held} is not paused (held); run `tarmac release {held}` to queue it" in done.stderr
    done = home.tarmac("resume", str(ended))
    assert (done.returncode, done.stderr) == (1, f"tarmac: job {ended} is not paused (succeeded)\n")
    assert home.tarmac("pause", "77").returncode == 3
    assert home.tarmac("pause").returncode == 2
    assert home.tarmac("pause", "all").stderr == "tarmac: no job is running; nothing was paused\n"
    assert home.tarmac("resume", "all").stderr == "tarmac: no job is paused; nothing was resumed\n"


def test_some_of_a_selection_are_paused(home: Home, client: Client) -> None:
    jobs = [run(client, gpus=1, tags=["mine"]) for _ in range(2)]
    waiting = home.add("--tag", "mine", "true")
    done = home.tarmac("pause", "--tag", "mine", "--json")
    answer = json.loads(done.stdout)
    assert answer["paused"] == jobs
    assert [(one["id"], one["state"]) for one in answer["not_running"]] == [(waiting, "queued")]
    assert client.pause_jobs(*jobs)["paused"] == jobs, "again"
    assert [job.id for job in client.jobs(state="paused")] == jobs
    assert [job.id for job in client.jobs(state="active")] == [*jobs, waiting]
    assert json.loads(home.tarmac("resume", "all", "--json").stdout)["resumed"] == jobs


def test_a_job_that_was_just_submitted_is_paused(home: Home, client: Client) -> None:
    job = home.add("-g", "0", "sleep", "1000")
    assert home.tarmac("pause", "last").returncode == 0
    assert client.job(job).state == "paused"


def test_the_time_limit_waits_unless_told_otherwise(home: Home, client: Client) -> None:
    waits = run(client, gpus=0, time_limit_s=5.0)
    counts = run(client, gpus=0, time_limit_s=5.0)
    assert home.tarmac("pause", str(waits)).returncode == 0
    assert home.tarmac("pause", str(counts), "--count-paused").returncode == 0
    ended = client.wait(counts)[0]
    assert (ended.state, ended.reason) == ("failed", "timeout")
    assert until(lambda: client.job(waits).pause_s > 5.5)
    assert client.job(waits).state == "paused"
    assert home.tarmac("resume", str(waits)).returncode == 0
    ended = client.wait(waits)[0]
    assert (ended.state, ended.reason) == ("failed", "timeout")
    assert ended.pause_s > 5.5


def test_a_paused_job_counts_as_running_for_rm_and_hold(home: Home, client: Client) -> None:
    job = run(client)
    client.pause_jobs(job)
    assert "running" in home.tarmac("rm", str(job)).stderr
    assert home.tarmac("hold", str(job)).stderr == f"tarmac: job {job} is not waiting and cannot be held\n"


def test_help_tells_pauses_apart(home: Home) -> None:
    assert "`tarmac queue pause`" in home.tarmac("pause", "--help").stdout
    assert "`tarmac queue resume`" in home.tarmac("resume", "--help").stdout
    assert "tarmac pause 7" in " ".join(home.tarmac("queue", "pause", "--help").stdout.split())


def test_why_names_a_paused_job_that_holds_cpus(home: Home, client: Client) -> None:
    job = run(client, gpus=0, cpus=len(os.sched_getaffinity(0)))
    client.pause_jobs(job)
    waiting = home.add("-g", "0", "--cpus", "1", "true")
    assert f"job {job} is paused and keeps what it has" in home.tarmac("why", str(waiting)).stdout
