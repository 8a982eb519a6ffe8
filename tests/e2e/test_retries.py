"""Real jobs that are tried again: with more memory, after a preemption, at their time limit, and by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.driven import driven_homes
from tests.home import Home, until
from tests.nvml.standin import GIB, Gpu, Process, Standin, nvml_library, standin

__all__ = ["nvml_library", "standin"]
OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


@pytest.fixture
def driven(standin: Standin, tmp_path: Path) -> Iterator[Home]:
    """A Tarmac home with a GPU of the stand-in driver."""
    standin.show(Gpu(uuid="GPU-0", name="NVIDIA A100"))
    yield from driven_homes(tmp_path / "home", standin)


def look(home: Home, job: int) -> Any:
    return home.client().job(job)


def log(home: Home, job: int, attempt: int) -> str:
    return home.tarmac("log", str(job), "--attempt", str(attempt)).stdout


def test_grow_books_more_than_the_job_was_seen_to_use(driven: Home, standin: Standin, tmp_path: Path) -> None:
    script = (
        f"[ $TARMAC_OOM_COUNT = 1 ] && exec sleep 60; until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo '{OOM}'"
    )
    job = driven.add("--gpu-mem", "4G", "--on-oom", "grow", "-c", f"{script}; exit 1")
    assert until(lambda: look(driven, job).state == "running")
    used = replace(
        Gpu(uuid="GPU-0", name="NVIDIA A100"),
        memory_used_bytes=6 * GIB,
        processes=(Process(pid=look(driven, job).pid, memory_bytes=6 * GIB),),
    )
    standin.show(used)
    assert until(lambda: look(driven, job).peak_gpu_memory_bytes == 6 * GIB)
    standin.show(Gpu(uuid="GPU-0", name="NVIDIA A100"))
    assert driven.tarmac("stop").returncode == 0
    (tmp_path / "go").touch()
    assert until(lambda: look(driven, job).attempt == 2 and look(driven, job).state == "running")
    seen = look(driven, job)
    assert seen.gpu_memory_bytes == 7.5 * GIB
    assert (seen.oom_count, seen.attempts[0]["reason"]) == (1, "oom-gpu")
    assert seen.attempts[0]["peak_gpu_memory_bytes"] == 6 * GIB
    shown = driven.tarmac("show", str(job)).stdout
    assert "request grown" in shown
    assert "7.5G of each GPU reserved" in shown
    assert driven.tarmac("kill", "--grace", "0", str(job)).returncode == 0


def test_a_preempted_job_is_told_that_it_was_started_before(home: Home) -> None:
    script = "echo restart $TARMAC_RESTART_COUNT; [ $TARMAC_RESTART_COUNT = 1 ] || exec sleep 60"
    job = home.add("-g", "2", "--tier", "preemptible", "-c", script)
    assert until(lambda: look(home, job).state == "running" and log(home, job, 1))
    urgent = home.add("-g", "2", "--tier", "urgent", "true")
    home.client().wait([urgent, job], timeout_s=60)
    assert (log(home, job, 1), log(home, job, 2)) == ("restart 0\n", "restart 1\n")
    assert [one["state"] for one in look(home, job).attempts] == ["preempted", "succeeded"]
    assert "2  succeeded" in home.tarmac("show", str(job)).stdout


def test_a_job_with_requeue_goes_on_after_its_time_limit_and_fails_without(home: Home) -> None:
    script = "echo $TARMAC_RESTART_COUNT; [ $TARMAC_RESTART_COUNT = 2 ] || exec sleep 60"
    job = home.add("-g", "0", "--time", "0.3s", "--requeue", "-c", script)
    other = home.add("-g", "0", "--time", "0.3s", "sleep", "60")
    home.client().wait([job, other], timeout_s=60)
    assert [(one["state"], one["reason"]) for one in look(home, job).attempts] == [
        ("failed", "timeout"),
        ("failed", "timeout"),
        ("succeeded", None),
    ]
    assert (look(home, other).state, look(home, other).reason, look(home, other).attempt) == ("failed", "timeout", 1)


def test_a_launch_failure_is_retried_once_the_program_is_there(home: Home, tmp_path: Path) -> None:
    program = tmp_path / "program"
    job = home.add("-g", "0", "--retry", "3", "--retry-delay", "10m", str(program))
    assert until(lambda: look(home, job).raw["retry_at"])
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o700)
    assert home.tarmac("retry", str(job)).returncode == 0
    home.client().wait(job, timeout_s=60)
    assert (look(home, job).state, log(home, job, 2)) == ("succeeded", "here\n")


def test_attempts_write_to_one_file_that_the_owner_chose(home: Home, tmp_path: Path) -> None:
    chosen = tmp_path / "out.log"
    job = home.add(
        "-g", "0", "--retry", "2", "--retry-delay", "0", "--log", str(chosen), "-c", "echo $TARMAC_ATTEMPT; false"
    )
    home.client().wait(job, timeout_s=60)
    assert chosen.read_text() == "1\n2\n3\n"
    assert home.tarmac("retry", str(job)).returncode == 0
    assert until(lambda: look(home, job).attempt >= 4)


def test_run_waits_for_the_last_attempt_and_exits_with_its_code(home: Home) -> None:
    script = "echo attempt $TARMAC_ATTEMPT; [ $TARMAC_ATTEMPT = 2 ] && exit 7; exit 5"
    done = home.tarmac("run", "-g", "0", "--retry", "1", "-c", script)
    assert (done.returncode, done.stdout.split("\n")[:2]) == (7, ["attempt 1", "attempt 2"])


def test_a_follower_that_comes_late_misses_no_attempt(home: Home) -> None:
    job = home.add("-g", "0", "--retry", "2", "--retry-delay", "0", "-c", "printf attempt$TARMAC_ATTEMPT; exit 5")
    home.client().wait(job, timeout_s=60)
    attempts: list[int] = []
    output = home.client().logs(job, follow=True, from_attempt=1, on_attempt=attempts.append, ends_lines=True)
    assert b"".join(output) == b"attempt1\nattempt2\nattempt3"
    assert attempts == [2, 3]
    assert b"".join(home.client().logs(job, follow=True, from_attempt=9)) == b"attempt3"


def test_a_follower_skips_attempts_that_never_started(home: Home, tmp_path: Path) -> None:
    program = tmp_path / "program"
    job = home.add("-g", "0", "--retry", "1", "--retry-delay", "10m", str(program))
    assert until(lambda: look(home, job).raw["retry_at"])
    program.write_text("#!/bin/sh\necho here\n")
    program.chmod(0o700)
    assert home.tarmac("retry", str(job)).returncode == 0
    home.client().wait(job, timeout_s=60)
    assert b"".join(home.client().logs(job, follow=True, from_attempt=1)) == b"here\n"


def test_an_array_is_retried_job_by_job_and_waits_for_its_turn(home: Home, tmp_path: Path) -> None:
    script = f"[ $TARMAC_ARRAY_INDEX = 1 ] || exit 0; [ -e {tmp_path}/fixed ]"
    done = home.tarmac("add", "--json", "-g", "0", "--array", "3", "--max-running", "1", "-c", script)
    ids = json.loads(done.stdout)["ids"]
    home.client().wait(ids, timeout_s=60)
    (tmp_path / "fixed").touch()
    answer = json.loads(home.tarmac("retry", "--failed", "--json").stdout)
    assert (answer["retried"], answer["not_retried"]) == ([ids[1]], [])
    home.client().wait(ids, timeout_s=60)
    assert [look(home, job).state for job in ids] == ["succeeded"] * 3


def test_a_dependent_waits_for_the_last_attempt(home: Home) -> None:
    job = home.add("-g", "0", "--retry", "1", "-c", "[ $TARMAC_ATTEMPT = 2 ]")
    after = home.add("-g", "0", "--after", str(job), "true")
    home.client().wait(after, timeout_s=60)
    assert (look(home, after).state, look(home, job).attempt) == ("succeeded", 2)


def test_bare_words_and_wrong_states_are_refused(home: Home) -> None:
    assert "no jobs given" in home.tarmac("retry").stderr
    assert "--failed and --state both select jobs" in home.tarmac("retry", "--failed", "--state", "failed").stderr
    assert home.tarmac("retry", "--failed").returncode == 3
    done = home.tarmac("set", "MAX_ERR_TIMES", "3")
    assert done.returncode != 0
    assert "use retries instead" in done.stderr


def test_ls_and_show_name_the_same_attempt(home: Home) -> None:
    job = home.add("-g", "0", "--retry", "3", "--retry-delay", "10m", "-c", "echo oops; exit 3")
    assert until(lambda: "retry in" in home.tarmac("ls").stdout)
    assert "queued 2/4" in home.tarmac("ls").stdout
    shown = home.tarmac("show", str(job)).stdout
    assert "2 of at most 4" in shown
    assert "Attempts\n" in shown
    assert "failed (exit 3)" in shown
    why = home.tarmac("why", str(job)).stdout
    assert f"run `tarmac retry {job}` to start it now" in why
    assert "based on when its retry is due" in why
    assert "begin time" not in why
