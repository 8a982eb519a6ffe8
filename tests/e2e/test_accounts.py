"""What jobs and foreign processes held and used, as `tarmac report` shows it: real jobs on the stand-in driver."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.driven import driven_homes
from tests.home import Home, until
from tests.nvml.standin import GIB, Gpu, Process, Standin, nvml_library, standin

__all__ = ["nvml_library", "standin"]


def gpus(count: int = 2) -> list[Gpu]:
    return [Gpu(uuid=f"GPU-{index}", name="NVIDIA A100", power_w=50.0) for index in range(count)]


def busy(gpu: Gpu, *pids: int, gib: int = 7) -> Gpu:
    return replace(
        gpu,
        memory_used_bytes=gib * GIB,
        utilization=80,
        power_w=250.0,
        processes=tuple(Process(pid=pid, memory_bytes=gib * GIB) for pid in pids),
    )


@pytest.fixture
def driven(standin: Standin, tmp_path: Path) -> Iterator[Home]:
    standin.show(*gpus())
    yield from driven_homes(tmp_path / "home", standin)


def state_of(home: Home, job: int) -> str:
    return home.client().job(job).state


def report(home: Home, *words: str) -> Any:
    done = home.tarmac("report", "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def started(home: Home, job: int) -> int:
    assert until(lambda: state_of(home, job) == "running")
    pid = home.client().job(job).pid
    assert pid is not None
    return pid


def test_a_job_is_in_the_report_while_it_runs_after_a_restart_and_after_rm(driven: Home, standin: Standin) -> None:
    job = driven.add("--project", "vision", "--", "sleep", "300")
    pid = started(driven, job)
    standin.show(busy(gpus()[0], pid), gpus()[1])
    assert until(lambda: report(driven)["total"]["used_s"] > 0.5)
    running = report(driven, "--by", "project")["rows"][0]
    assert (running["name"], running["jobs"], running["peak_gpu_memory_bytes"]) == ("vision", 1, 7 * GIB)
    assert running["held_s"] >= running["measured_s"] >= running["used_s"] > 0
    assert running["energy_j"] > 0

    os.kill(driven.pid_of("controller"), signal.SIGKILL)
    assert until(lambda: driven.tarmac("status").returncode == 0)
    assert report(driven)["total"]["held_s"] >= running["held_s"]

    assert driven.tarmac("kill", str(job), "--grace", "0").returncode == 0
    assert until(lambda: state_of(driven, job) == "cancelled")
    standin.show(*gpus())
    assert until(lambda: not driven.client().gpus()[0].processes)
    before = report(driven)["rows"]
    assert before[0]["held_s"] >= running["held_s"]
    assert driven.tarmac("rm", str(job)).returncode == 0
    assert driven.tarmac("stop").returncode == 0
    assert report(driven)["rows"] == before, "removed, and read by a new controller"


def test_attempts_add_up_and_the_job_counts_once(driven: Home) -> None:
    job = driven.add("--gpus-on", "0", "--", "sleep", "300")
    started(driven, job)
    assert driven.tarmac("queue", "stop", "--requeue", "--grace", "0").returncode == 0
    assert until(lambda: state_of(driven, job) == "queued")
    first = report(driven)["total"]
    assert (first["jobs"], first["held_s"] > 0) == (1, True)
    assert driven.tarmac("queue", "resume").returncode == 0
    started(driven, job)
    assert until(lambda: report(driven)["total"]["held_s"] > first["held_s"])
    assert report(driven)["total"]["jobs"] == 1
    (row,) = report(driven, "--by", "gpu")["rows"]
    assert (row["name"], row["uuid"]) == ("0", "GPU-0")


def test_foreign_use_has_its_own_row(driven: Home, standin: Standin) -> None:
    with subprocess.Popen(["sleep", "300"]) as foreign:
        standin.show(busy(gpus()[0], foreign.pid), gpus()[1])
        assert driven.tarmac("status").returncode == 0
        assert until(lambda: (report(driven)["foreign"] or {"used_s": 0})["used_s"] > 0.2)
        found = report(driven)
        assert found["rows"] == []
        assert found["total"] == found["foreign"]
        assert (found["foreign"]["jobs"], found["foreign"]["utilization"]) == (0, 80.0)
        assert "\n(foreign)" in driven.tarmac("report").stdout
        (line,) = csv.DictReader(io.StringIO(driven.tarmac("report", "--csv").stdout))
        assert (line["kind"], line["owner"]) == ("foreign", "")
        assert driven.tarmac("stop").returncode == 0
        foreign.kill()
    standin.show(*gpus())
    assert report(driven)["foreign"]["used_s"] >= found["foreign"]["used_s"], "it is stored when the controller ends"


def test_a_report_of_nothing_says_so(home: Home) -> None:
    done = home.tarmac("report")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("No GPU time was used from ")
    assert report(home)["rows"] == []
    assert home.tarmac("report", "--csv").stdout.startswith("kind,owner,jobs,held_s,")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "month"), "it must be one of owner, project, gpu, day"),
        (("--since", "soon"), "it must be a time in the past, such as 30d"),
        (("--since", "2099-01-01"), "that is in the future"),
        (("--since", "1d", "--until", "7d"), "--since is later than --until"),
        (("--since", "30"), "30d is days"),
        (("--csv", "--json"), "--csv cannot be used together with --json"),
        (("today",), "unexpected argument 'today'"),
    ],
)
def test_bad_arguments_are_refused_with_what_to_type(home: Home, words: tuple[str, ...], message: str) -> None:
    done = home.tarmac("report", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def finished(home: Home, standin: Standin, *options: str, gib: int) -> int:
    """A job named train that succeeds after it was seen to take that much memory."""
    job = home.add(*options, "-n", "train", "-c", "trap 'exit 0' TERM; sleep 300 & wait")
    pid = started(home, job)
    standin.show(busy(gpus()[0], pid, gib=gib), gpus()[1])
    assert until(lambda: home.client().job(job).peak_gpu_memory_bytes == gib * GIB)
    os.kill(pid, signal.SIGTERM)
    assert until(lambda: state_of(home, job) == "succeeded")
    standin.show(*gpus())
    return job


def test_the_memory_of_past_runs_is_hinted_at_and_booked_by_auto(driven: Home, standin: Standin) -> None:
    first = driven.tarmac("add", "--gpu-mem", "auto", "-n", "train", "--hold", "true")
    assert "no earlier run of 'train' is known" in first.stderr
    assert driven.client().job(int(first.stdout)).gpu_memory_bytes is None, "whole GPUs"
    job = finished(driven, standin, "--gpus-on", "0", "--gpu-mem", "20G", gib=9)
    shown = driven.tarmac("show", str(job)).stdout
    assert "at most 9.0G of the 20.0G reserved on each GPU" in shown
    assert "job 2 used at most 9.0G of the 20.0G reserved on each GPU" in driven.tarmac("wait", str(job)).stderr
    assert driven.tarmac("wait", str(job), "--json").stderr == ""

    assert driven.tarmac("rm", "all", "--state", "ended").returncode == 0
    os.kill(driven.pid_of("controller"), signal.SIGKILL)
    assert until(lambda: driven.tarmac("status").returncode == 0)
    wide = driven.tarmac("add", "--gpu-mem", "20G", "-n", "train", "--hold", "true")
    assert "tarmac: the last run of 'train' took up to 9.0G; you reserve 20.0G (--gpu-mem auto" in wide.stderr
    assert wide.stdout.strip().isdecimal()
    assert driven.tarmac("add", "--json", "--gpu-mem", "20G", "-n", "train", "--hold", "true").stderr == ""
    other = driven.tarmac("add", "--gpu-mem", "20G", "-n", "other", "--hold", "true")
    assert other.stderr == ""
    auto = driven.tarmac("add", "--gpu-mem", "auto", "-n", "train", "--hold", "true")
    booked = driven.client().job(int(auto.stdout)).gpu_memory_bytes
    assert 9 * GIB < booked < 12 * GIB


def test_auto_is_refused_where_it_makes_no_sense(home: Home) -> None:
    for words, message in (
        (("-g", "0", "--gpu-mem", "auto"), "--gpu-mem needs a GPU"),
        (("--gpu-share", "0.5", "--gpu-mem", "auto"), "--gpu-mem and --gpu-share both"),
        (("--gpu-mem", "automatic"), "it must be a size"),
    ):
        done = home.tarmac("add", *words, "true")
        assert done.returncode == 2
        assert message in done.stderr


def test_retried_attempts_add_up_and_the_job_counts_once(home: Home) -> None:
    job = home.add("--retry", "1", "--retry-delay", "0", "--project", "p", "-c", "sleep 0.3; exit 1")
    assert home.tarmac("wait", str(job)).returncode == 1
    seen = home.client().job(job)
    assert seen.attempt == 2
    (row,) = report(home, "--by", "project")["rows"]
    assert (row["name"], row["jobs"]) == ("p", 1)
    assert row["held_s"] == pytest.approx(seen.held_gpu_s)
    assert report(home, "--owner", seen.owner, "--project", "p")["total"]["jobs"] == 1
    assert report(home, "--project", "")["rows"] == report(home, "--owner", "nobody")["rows"] == []
    assert row["held_s"] >= 0.6
    again = home.tarmac("retry", str(job))
    assert again.returncode == 0, again.stderr
    assert home.tarmac("wait", str(job)).returncode == 1
    (later,) = report(home, "--by", "project")["rows"]
    assert later["jobs"] == 1
    assert later["held_s"] >= row["held_s"] + 0.3
    assert home.client().job(job).held_gpu_s == pytest.approx(later["held_s"])


def test_a_paused_job_shows_what_it_held_meanwhile(home: Home) -> None:
    job = home.add("--", "sleep", "300")
    started(home, job)
    assert home.tarmac("pause", str(job)).returncode == 0
    assert until(lambda: state_of(home, job) == "paused")
    assert until(lambda: report(home)["total"]["pause_s"] > 0.3)
    assert "PAUSED" in home.tarmac("report").stdout
    assert home.tarmac("resume", str(job)).returncode == 0
    assert until(lambda: state_of(home, job) == "running")
    paused = report(home)["total"]["pause_s"]
    assert home.tarmac("kill", str(job), "--grace", "0").returncode == 0
    assert until(lambda: state_of(home, job) == "cancelled")
    total = report(home)["total"]
    assert total["pause_s"] == pytest.approx(paused, abs=0.5)
    assert total["held_s"] > total["pause_s"]
