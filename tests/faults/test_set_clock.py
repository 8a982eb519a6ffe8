"""The wall clock is set, or runs on while the machine is suspended: what is due starts, and elapsed times are right."""

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clock.shifted import ShiftedClock
from tests.faults.world import eventually
from tests.home import Home, homes, until

HOUR_S = 3600
DAY_S = 24 * HOUR_S


@pytest.fixture
def home(tmp_path: Path, shifted_clock: ShiftedClock) -> Iterator[Home]:
    """Its processes follow the shifted clock."""
    for home in homes(tmp_path / "home"):
        home.environment |= shifted_clock.environment
        yield home


def state(home: Home, job: int) -> str:
    return str(home.client().job(job).state)


def reasons(home: Home, job: int) -> set[str]:
    return {reason["kind"] for reason in home.client().why(job)["reasons"]}


def ends(home: Home, job: int) -> None:
    eventually(lambda: state(home, job) == "succeeded", f"job {job} runs, although nothing else happens")


@pytest.mark.parametrize("gpus", ["0", "1"])
def test_a_begin_time_comes_when_the_clock_jumps_forward(home: Home, shifted_clock: ShiftedClock, gpus: str) -> None:
    job = home.add("-g", gpus, "--begin", "in 5h", "true")
    assert state(home, job) == "queued"
    shifted_clock.set(4 * HOUR_S)
    assert reasons(home, job) == {"not_before"}
    shifted_clock.set(6 * HOUR_S)
    ends(home, job)


def test_a_begin_time_that_is_ahead_again_is_waited_for(home: Home, shifted_clock: ShiftedClock) -> None:
    home.add("-g", "2", "sleep", "600")
    job = home.add("-g", "2", "--begin", "in 1h", "true")
    shifted_clock.set(2 * HOUR_S)
    eventually(lambda: "not_before" not in reasons(home, job), "its begin time has come")
    shifted_clock.set(0)
    home.tarmac("kill", "1", "--grace", "0")
    home.tarmac("wait", "1")
    assert state(home, job) == "queued"
    assert reasons(home, job) == {"not_before"}
    shifted_clock.set(2 * HOUR_S)
    ends(home, job)


def test_a_reservation_ends_when_the_clock_jumps_forward(home: Home, shifted_clock: ShiftedClock) -> None:
    home.tarmac("set", "no_show_s", "10h")
    made = home.tarmac("reserve", "2", "--for", "5h", "--user", "nobody")
    assert made.returncode == 0, made.stderr
    job = home.add("true")
    assert reasons(home, job) == {"reserved_for"}
    shifted_clock.set(6 * HOUR_S)
    ends(home, job)


def test_a_begin_time_centuries_ahead_is_accepted_and_waited_for(home: Home, shifted_clock: ShiftedClock) -> None:
    far = home.client().submit(["true"], gpus=0, begin_at=253_402_300_000.0, environment=os.environ).id
    near = home.add("-g", "0", "--begin", "in 1h", "true")
    shifted_clock.set(2 * HOUR_S)
    ends(home, near)
    assert state(home, far) == "queued"
    for verb in ("why", "show", "ls"):
        done = home.tarmac(verb, str(far))
        assert done.returncode == 0, done.stderr
        assert "9999" in done.stdout


def test_the_controller_sets_a_timer_that_notices_when_the_clock_is_set(tmp_path: Path) -> None:
    for home in homes(tmp_path / "plain"):
        home.add("-g", "0", "--begin", "in 1h", "true")
        pid = home.pid_of("controller")
        timers = [fd for fd in os.listdir(f"/proc/{pid}/fd") if "timerfd" in os.readlink(f"/proc/{pid}/fd/{fd}")]
        told = [Path(f"/proc/{pid}/fdinfo/{fd}").read_text() for fd in timers]
        assert any(re.search(r"clockid: 0\b.*settime flags: 03\b", text, re.DOTALL) for text in told), told


def shown_times(home: Home, job: int) -> list[str]:
    """TIME of `ls`, and what `show` says about how long it runs or ran."""
    titles, *rows = home.tarmac("ls", "-a").stdout.splitlines()
    row = next(row for row in rows if row.split()[0] == str(job))
    at = titles.index("TIME") + len("TIME")
    words = re.findall(r"(?:running +for|, ran) (.*)", home.tarmac("show", str(job)).stdout)
    return [row[:at].split()[-1], *words]


def expect_short(home: Home, job: int) -> None:
    elapsed_s = home.client().job(job).elapsed_s
    assert elapsed_s is not None
    assert 0 <= elapsed_s < HOUR_S
    for words in shown_times(home, job):
        assert re.fullmatch(r"\d+s|\d+m( \d+s)?|\d+m\d+s", words), f"{words!r} is hours or days"


@pytest.mark.parametrize("step_s", [DAY_S, -DAY_S, 400 * DAY_S])
def test_elapsed_times_do_not_follow_the_clock(home: Home, shifted_clock: ShiftedClock, step_s: int) -> None:
    """Not even if controller or agent are killed and learn about the job from its records."""
    job = home.add("sleep", "600")
    assert until(lambda: state(home, job) == "running")
    shifted_clock.set(step_s)
    expect_short(home, job)
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    eventually(lambda: home.tarmac("status").returncode == 0, "another controller")
    eventually(lambda: home.client().status()["agent_pid"], "the agent has joined")
    expect_short(home, job)
    os.kill(home.pid_of("agent"), signal.SIGKILL)
    eventually(lambda: home.client().status()["agent_pid"], "another agent")
    expect_short(home, job)
    home.tarmac("kill", str(job), "--grace", "0")
    home.tarmac("wait", str(job))
    expect_short(home, job)
    again = home.add("true")
    assert home.tarmac("wait", str(again)).returncode == 0


def test_the_time_left_of_a_limit_does_not_follow_the_clock(home: Home, shifted_clock: ShiftedClock) -> None:
    home.add("-g", "2", "--time", "5h", "sleep", "600")
    waiting = home.add("-g", "2", "true")
    assert until(lambda: state(home, 1) == "running")
    shifted_clock.set(DAY_S)
    (ends_at,) = {gpu["until"] for gpu in home.client().why(waiting)["gpus"]}
    assert ends_at is not None
    with home.client() as client:
        now = client.job(waiting).submitted_at.timestamp() + DAY_S
        starts = client.job(waiting).estimated_start
    assert starts is not None
    assert 4 * HOUR_S < starts.timestamp() - now < 6 * HOUR_S


def test_a_week_of_gpu_hours_does_not_pass_because_the_clock_jumps(home: Home, shifted_clock: ShiftedClock) -> None:
    home.tarmac("set", "gpu_hours_per_user", "10")
    home.add("-g", "2", "sleep", "600")
    assert until(lambda: state(home, 1) == "running")
    shifted_clock.set(DAY_S)
    home.tarmac("kill", "1", "--grace", "0")
    home.tarmac("wait", "1")
    job = home.add("true")
    ends(home, job)
