"""examples/resume.py: preempted, killed and stopped by its time limit, it ends with the same loss as undisturbed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tarmac.client import Client
from tests.home import Home, until
from tests.services import need_torch

SCRIPT = Path(__file__).parents[2] / "examples" / "resume.py"
STEPS = 200
PATIENCE_S = 250

pytestmark = pytest.mark.timeout(600)  # with the installation of PyTorch


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    path = need_torch()
    return {"PATH": os.environ["PATH"], **({"PYTHONPATH": path} if path else {})}


def command(folder: Path, name: str, step_s: float) -> list[str]:
    words = ["--steps", str(STEPS), "--step-s", str(step_s), "--checkpoint", str(folder / f"{name}.pt")]
    return [sys.executable, "-W", "ignore", str(SCRIPT), *words]


def output(client: Client, job: int) -> str:
    """Of all attempts."""
    attempts = range(1, (client.job(job).attempt or 0) + 1)
    return "".join(b"".join(client.logs(job, attempt=number)).decode() for number in attempts)


def final_loss(text: str) -> list[str]:
    return re.findall(r"final loss (\S+)", text)


def is_at_work(client: Client, job: int) -> bool:
    """It runs, and has saved its state since it started: every 20 steps."""
    if client.job(job).state != "running":
        return False
    steps = [int(step) for step in re.findall(r"^step (\d+)/", b"".join(client.logs(job)).decode(), re.MULTILINE)]
    return bool(steps) and steps[-1] // 20 > steps[0] // 20


def disturb(client: Client, job: int, disturbance: Callable[[], object], kind: str, **detail: object) -> None:
    """Disturb it while it works, again if its time limit came first, until its story has such an event."""

    def has_happened() -> bool:
        events = [event for event in client.story(job) if event["kind"] == kind]
        return any(detail.items() <= (event["detail"] or {}).items() for event in events)

    def try_once() -> bool:
        if is_at_work(client, job):
            disturbance()
            assert until(lambda: has_happened() or client.job(job).state == "queued")
        return has_happened()

    assert until(try_once, PATIENCE_S)


def kill(client: Client, job: int) -> None:
    pid = client.job(job).pid
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_it_ends_with_the_same_loss(home: Home, tmp_path: Path, environment: dict[str, str]) -> None:
    client = home.client()
    began = time.monotonic()
    undisturbed = subprocess.run(
        command(tmp_path, "undisturbed", 0.0), env=environment, capture_output=True, text=True, check=True
    )
    # Long enough to import PyTorch, however busy the machine is, and too short for all steps.
    limit_s = 2 * (time.monotonic() - began) + 4
    job = client.submit(
        command(tmp_path, "disturbed", limit_s / 150),
        gpus=2,
        environment=environment,
        tier="preemptible",
        time_limit_s=limit_s,
        warn="B:USR1@2",
        requeue=True,
        retries=3,
        retry_delay_s=0,
    ).id

    disturb(client, job, lambda: client.wait(home.add("--tier", "urgent", "true"), PATIENCE_S), "Preempted")
    disturb(client, job, lambda: kill(client, job), "JobExited", signal=9)

    ended = client.wait(job, PATIENCE_S)[0]
    text = output(client, job)
    assert ended.state == "succeeded", text
    assert ended.attempt is not None
    assert ended.attempt >= 4, "it was preempted, killed, and requeued at its limit"
    assert any((event["detail"] or {}).get("timed_out") for event in client.story(job))
    assert "saved; stopping" in text
    begins = [int(step) for step in re.findall(r"begins with step (\d+)", text)]
    assert begins == sorted(begins)
    assert begins[-1] > 20, "it continued where it was"
    # If its limit comes while it exits, it says so again in the next attempt.
    assert set(final_loss(text)) == set(final_loss(undisturbed.stdout))
    assert final_loss(text)
