"""Scheduling from the command line: time limits, dependencies, arrays, held jobs, queue modes, reservations."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from tests.home import BIN, Home, until
from tests.terminal import Terminal


def job(home: Home, number: int) -> dict[str, Any]:
    (found,) = json.loads(home.tarmac("show", str(number), "--json").stdout)
    return found


def has_state(home: Home, number: int, state: str) -> bool:
    return bool(until(lambda: job(home, number)["state"] == state))


def listed(home: Home, *words: str) -> list[int]:
    return [int(line.split()[0]) for line in home.tarmac("ls", *words).stdout.splitlines()[1:]]


def done(home: Home, *words: str) -> str:
    """The output of a command that must succeed."""
    ended = home.tarmac(*words)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def full_home(home: Home) -> Home:
    """Job 1 holds both GPUs."""
    home.add("-g", "2", "-n", "wide", "sleep", "600")
    assert has_state(home, 1, "running")
    return home


def test_a_job_is_stopped_at_its_time_limit(shared_home: Home) -> None:
    ended = shared_home.tarmac("run", "--time", "1s", "-g", "0", "sleep", "600")
    assert ended.returncode == 143
    assert "it reached its time limit" in ended.stderr
    assert "failed (timeout)" in done(shared_home, "show", "last")
    assert "failed (timeout)" in done(shared_home, "ls", "last")


def test_short_jobs_go_first_if_the_order_says_so(full_home: Home) -> None:
    long, short = (full_home.add("-g", "2", "--time", time, "sleep", "600") for time in ("9h", "1h"))
    assert listed(full_home, "--state", "queued") == [long, short]
    done(full_home, "set", "order", "expected")
    assert listed(full_home, "--state", "queued") == [short, long]
    assert "order   expected" in done(full_home, "queue")
    assert "1 job ahead" in done(full_home, "why", str(long))
    done(full_home, "move", str(long), "first")
    assert listed(full_home, "--state", "queued") == [long, short]
    assert full_home.tarmac("stop").returncode == 0
    assert listed(full_home, "--state", "queued") == [long, short], "also after a restart"
    done(full_home, "kill", "1")
    assert has_state(full_home, long, "running")


def test_a_job_is_stopped_with_its_own_signal(shared_home: Home) -> None:
    script = "trap 'echo saved; exit 0' USR1; echo ready; while :; do sleep 0.05; done"
    number = shared_home.add("-g", "0", "--signal", "USR1", "-c", script)
    assert until(lambda: "ready" in done(shared_home, "log", str(number)))
    shared_home.tarmac("kill", str(number))
    shared_home.tarmac("wait", str(number))
    assert "saved" in done(shared_home, "log", str(number))


def test_a_job_starts_after_its_dependency(shared_home: Home) -> None:
    first = shared_home.add("-g", "0", "--begin", "in 1h", "true")
    second = shared_home.add("-g", "0", "--after", "last", "true")
    alarm = shared_home.add("-g", "0", "--after", f"{first}:fail", "true")
    table = done(shared_home, "ls", str(first), str(second))
    assert f"waits for {first}" in table
    assert "  at " in table
    assert f"job {first}" in done(shared_home, "why", str(second))
    done(shared_home, "edit", str(first), "--begin", "none")
    assert shared_home.tarmac("wait", str(second)).returncode == 0
    assert shared_home.tarmac("wait", str(alarm)).returncode == 1
    assert "failed (dependency)" in done(shared_home, "show", str(alarm))


def test_a_dependency_that_was_removed_still_counts(full_home: Home) -> None:
    full_home.tarmac("run", "-g", "0", "true")
    full_home.add("--after", "2", "true")
    done(full_home, "rm", "2")
    assert "waits for" not in done(full_home, "ls", "3")


def test_wait_skips_held_jobs(full_home: Home) -> None:
    full_home.add("-g", "0", "--draft", "true")
    full_home.add("-g", "0", "--hold", "true")
    full_home.tarmac("kill", "1", "--grace", "0")
    assert full_home.tarmac("wait", "all", "--timeout", "30").returncode != 124


def test_run_reports_that_its_job_will_never_run(shared_home: Home) -> None:
    failed = shared_home.add("-g", "0", "false")
    ended = shared_home.tarmac("run", "-g", "0", "--after", str(failed), "true")
    assert ended.returncode == 1
    assert "will never run" in ended.stderr


def test_a_missing_dependency_is_refused(shared_home: Home) -> None:
    refused = shared_home.tarmac("add", "--after", "4242", "true")
    assert refused.returncode == 3
    assert "4242" in refused.stderr


def test_an_array_prints_a_range_that_every_verb_accepts(shared_home: Home) -> None:
    script = 'echo "$TARMAC_ARRAY_INDEX of $TARMAC_ARRAY_COUNT"'
    span = done(shared_home, "add", "-g", "0", "--array", "0-2", "--max-running", "2", "-c", script).strip()
    first, _, last = span.partition("-")
    assert int(last) - int(first) == 2
    assert shared_home.tarmac("wait", span).returncode == 0
    said = done(shared_home, "log", span)
    assert [f"{index} of 3" in said for index in range(3)] == [True] * 3
    assert len(listed(shared_home, span)) == 3
    assert "index 2, at most 2 at once" in done(shared_home, "show", last)
    assert done(shared_home, "rm", span) == ""


def test_a_job_is_held_and_released(full_home: Home) -> None:
    number = full_home.add("true")
    done(full_home, "hold", str(number))
    assert job(full_home, number)["state"] == "held"
    assert "held" in done(full_home, "why", str(number))
    assert "to release it" in done(full_home, "show", str(number))
    done(full_home, "release", str(number))
    assert job(full_home, number)["state"] == "queued"
    assert "is not waiting" in full_home.tarmac("hold", "1").stderr


def test_a_draft_waits_until_it_is_released(shared_home: Home) -> None:
    number = shared_home.add("-g", "0", "--draft", "echo", "hello")
    assert job(shared_home, number)["state"] == "draft"
    done(shared_home, "edit", str(number), "--name", "ready", "--time", "1h")
    done(shared_home, "release", "--name", "ready")
    assert shared_home.tarmac("wait", str(number)).returncode == 0
    assert job(shared_home, number)["time_limit_s"] == 3600


def test_waiting_jobs_are_listed_in_queue_order(full_home: Home) -> None:
    for _ in range(3):
        full_home.add("sleep", "600")
    assert listed(full_home, "--state", "queued") == [2, 3, 4]
    assert json.loads(done(full_home, "move", "4", "first", "--json"))["moved"][0]["position"] == 1
    assert listed(full_home, "--state", "queued") == [4, 2, 3]
    done(full_home, "move", "4", "last")
    done(full_home, "edit", "3", "-p", "1")
    assert listed(full_home) == [1, 3, 2, 4]
    full_home.tarmac("hold", "3")
    assert listed(full_home) == [1, 2, 4, 3]


def test_an_estimate_is_marked(home: Home) -> None:
    home.add("-g", "2", "--time", "2h", "sleep", "600")
    assert has_state(home, 1, "running")
    home.add("true")
    head, _, waiting = done(home, "ls").splitlines()[:3]
    assert "STARTS" in head
    assert "~" in waiting
    assert "~" in done(home, "why", "2")
    assert "an estimate based on" in done(home, "show", "2")


def test_why_shows_place_gpus_and_holders(full_home: Home) -> None:
    full_home.add("--gpu-mem", "8G", "true")
    text = done(full_home, "why", "2")
    assert "GPU 0" in text
    assert "job 1" in text
    (why,) = json.loads(done(full_home, "why", "2", "--json"))
    assert (why["id"], why["state"], why["position"]) == (2, "queued", 1)
    assert [gpu["jobs"] for gpu in why["gpus"]] == [[1], [1]]


def test_start_ignores_the_order_and_double_books_only_with_yes(full_home: Home) -> None:
    full_home.add("sleep", "600")
    refused = full_home.tarmac("start", "2", "--gpus-on", "0")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    (started,) = json.loads(done(full_home, "start", "2", "--gpus-on", "0", "--yes", "--json"))
    assert [gpu["index"] for gpu in started["gpus"]] == [0]
    assert has_state(full_home, 2, "running")


def test_a_paused_queue_starts_no_job_and_ls_says_so(home: Home) -> None:
    assert done(home, "queue").startswith("queue   open")
    done(home, "queue", "pause", "--reason", "new driver")
    number = home.add("true")
    said = home.tarmac("ls")
    assert said.stderr.startswith("The queue has been paused since ")
    assert "new driver" in said.stderr
    assert listed(home) == [number]
    assert "PAUSED: new driver" in done(home, "status")
    assert "paused" in done(home, "why", str(number))
    with Terminal(home, "ls", "-w") as watching:
        assert watching.sees("The queue has been paused")
        home.tarmac("queue", "resume")
        assert watching.sees("succeeded")
    assert home.tarmac("wait", str(number)).returncode == 0
    assert home.tarmac("ls").stderr == ""


def test_a_draining_queue_accepts_no_new_jobs(home: Home) -> None:
    done(home, "queue", "drain", "-r", "moving house")
    refused = home.tarmac("add", "true")
    assert refused.returncode in {2, 5}
    assert "moving house" in refused.stderr
    assert "draining" in home.tarmac("ls").stderr
    done(home, "queue", "resume")
    home.add("true")


def test_jobs_stopped_with_the_queue_run_again_as_a_new_attempt(full_home: Home) -> None:
    full_home.add("true")
    assert json.loads(done(full_home, "queue", "stop", "--requeue", "--grace", "1", "--json")) == {"stopping": [1]}
    assert until(lambda: "queued, attempt 2" in full_home.tarmac("ls").stdout)
    assert listed(full_home) == [1, 2]
    done(full_home, "queue", "resume")
    assert until(lambda: "running, attempt 2" in full_home.tarmac("ls").stdout)


def test_a_preempted_job_waits_for_its_next_attempt(home: Home) -> None:
    home.add("-g", "2", "--tier", "preemptible", "--grace", "1", "sleep", "600")
    assert has_state(home, 1, "running")
    home.add("-g", "2", "sleep", "600")
    assert has_state(home, 2, "running")
    assert "queued, attempt 2" in done(home, "ls", "1")
    assert "preemptible" in done(home, "show", "1")


def test_output_is_followed_across_attempts_and_earlier_output_stays_readable(home: Home) -> None:
    script = "echo this is attempt $TARMAC_ATTEMPT; test $TARMAC_ATTEMPT = 2 || sleep 600"
    number = home.add("-g", "2", "--tier", "preemptible", "--grace", "1", "-c", script)
    follower = home.start("log", "-f", str(number))
    assert until(lambda: "attempt 1" in home.tarmac("log", str(number)).stdout)
    home.add("-g", "2", "true")
    assert follower.communicate(timeout=60)[0] == b"this is attempt 1\nthis is attempt 2\n"
    assert done(home, "log", "--attempt", "1", str(number)) == "this is attempt 1\n"
    assert done(home, "log", str(number)) == "this is attempt 2\n"


def test_a_log_file_contains_the_output_of_every_attempt(home: Home) -> None:
    log = home.path.parent / "out.txt"
    script = "echo this is attempt $TARMAC_ATTEMPT; test $TARMAC_ATTEMPT = 2 || sleep 600"
    number = home.add("-g", "2", "--tier", "preemptible", "--grace", "1", "--log", str(log), "-c", script)
    assert until(lambda: log.exists() and "attempt 1" in log.read_text())
    home.add("-g", "2", "true")
    home.tarmac("wait", str(number))
    assert log.read_text() == "this is attempt 1\nthis is attempt 2\n"


def test_a_suspension_is_shown_with_its_reason(home: Home) -> None:
    done(home, "set", "suspend_after_failures", "2")
    for _ in range(2):
        home.tarmac("run", "-g", "0", "false")
    waiting = home.add("-g", "0", "true")
    said = home.tarmac("ls").stderr
    assert "do not start: the last 2 jobs" in said
    assert "(exit code 1)" in said
    done(home, "queue", "resume")
    assert home.tarmac("wait", str(waiting)).returncode == 0


def test_gpus_are_reserved_listed_shown_and_released(home: Home) -> None:
    number = done(home, "reserve", "1", "--for", "1h", "--user", "somebody-else").strip()
    _, row = done(home, "reserve").splitlines()
    assert row.split()[0] == number
    assert "somebody-else" in row
    assert "reserved" in done(home, "gpus")
    home.add("-g", "2", "true")
    assert "reserv" in done(home, "why", "last")
    done(home, "reserve", "end", number)
    assert home.tarmac("wait", "last").returncode == 0
    assert done(home, "reserve", "--json") == "[]\n"


def test_why_names_the_limit_and_its_numbers(home: Home) -> None:
    done(home, "set", "max_gpus_per_job", "1")
    refused = home.tarmac("add", "-g", "2", "true")
    assert refused.returncode == 2
    assert "max_gpus_per_job is 1" in refused.stderr


@pytest.mark.parametrize("columns", [80, 200])
def test_output_fits_the_terminal_and_colours_can_be_disabled(full_home: Home, columns: int) -> None:
    full_home.add("-n", "x" * 60, "--tag", "y" * 60, "sleep", "600")
    full_home.tarmac("queue", "pause", "-r", "z " * 60)
    full_home.tarmac("reserve", "2", "--from", "in 3h", "--for", "90m")
    for words in (["ls"], ["why", "2"], ["queue"], ["reserve"]):
        with Terminal(full_home, *words, columns=columns, NO_COLOR="1") as terminal:
            assert terminal.ends() == 0
            assert "\x1b" not in terminal.text
            assert all(len(line) <= columns for line in terminal.text.splitlines()), terminal.text
        with Terminal(full_home, *words, columns=columns) as terminal:
            assert terminal.ends() == 0


def test_head_closes_the_pipe_without_an_error(shared_home: Home) -> None:
    done(shared_home, "add", "-g", "0", "--array", "300", "--draft", "true")
    script = f"{BIN / 'tarmac'} ls --state draft | head -n 1; {BIN / 'tarmac'} why last | head -n 1"
    ended = subprocess.run(["sh", "-c", script], env=shared_home.environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_why_ls_and_show_agree_on_the_end_that_progress_promises(home: Home) -> None:
    """`ls` shows the time left, so `why` knows when the GPUs come free."""
    bar = "printf '50%%|#####     | 50/100 [10:00<10:00, 12.00s/it]'; sleep 600"
    running = home.add("-g", "2", "-c", bar)
    waiting = home.add("-g", "2", "true")
    assert until(lambda: home.client().job(running).progress), "its progress is read"
    with home.client() as client:
        why, job = client.why(waiting), client.job(waiting)
        assert all(gpu["until"] for gpu in why["gpus"])
        assert why["estimated_start"] == job.raw["estimated_start"] is not None
        assert "progress" in str(why["estimate_basis"])
    text = home.tarmac("why", str(waiting)).stdout
    assert "its end is not known" not in text
    assert "based on its progress" in text
    assert "LEFT" in home.tarmac("ls").stdout
    assert "~" in home.tarmac("ls", str(waiting)).stdout


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_job_that_ends_before_a_progress_bar_does_starts_in_the_gap(home: Home, is_restarted: bool) -> None:
    """The wide job waits for the running one, which prints that it needs five hours."""
    bar = "printf '50%%|#####     | 50/100 [5:00:00<5:00:00, 360.00s/it]'; sleep 600"
    running = home.add("-c", bar)
    wide = home.add("-g", "2", "true")
    if is_restarted:
        os.kill(home.pid_of("controller"), signal.SIGKILL)
    filler = home.add("--time", "3h", "sleep", "600")
    assert until(lambda: home.client().job(filler).state == "running", 60), "the core knows the bar"
    assert home.client().job(running).state == "running"
    assert home.client().job(wide).state == "queued"
    assert "based on its progress" in home.tarmac("why", str(wide)).stdout


def test_a_delayed_job_with_free_gpus_has_an_estimated_start(home: Home) -> None:
    job = home.add("--begin", "in 2h", "true")
    why = home.client().why(job)
    assert why["estimated_start"] == home.client().job(job).raw["begin_at"]
    assert "based on its begin time" in home.tarmac("why", str(job)).stdout
