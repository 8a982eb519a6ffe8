"""GPUs that are gone, hang or are faulty, across restarts, until a person forgets or resumes them."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from tests.e2e.test_gpus_as_they_are import driven, gpu, gpus, state_of
from tests.home import Home, homes, until
from tests.nvml.standin import DRIVER_NOT_LOADED, Standin, nvml_library, standin

__all__ = ["driven", "homes", "nvml_library", "standin"]


def rows(home: Home) -> list[str]:
    return [gpu.uuid for gpu in home.client().gpus()]


def restart(home: Home) -> None:
    assert home.tarmac("stop").returncode == 0
    assert home.tarmac("status").returncode == 0


def holding(home: Home, number: int) -> int:
    job = home.add("--gpus-on", str(number), "--", "sleep", "60")
    assert until(lambda: state_of(home, job) == "running")
    return job


def test_a_gpu_that_is_gone_stays_in_the_list_until_it_is_forgotten(driven: Home, standin: Standin) -> None:
    job = holding(driven, 1)
    standin.show(gpus(2)[0])
    assert until(lambda: gpu(driven, 1).gone_since)
    since = gpu(driven, 1).gone_since
    restart(driven)
    assert until(lambda: "GPU-1" in rows(driven) and gpu(driven, 1).gone_since == since)
    assert (gpu(driven, 1).jobs, gpu(driven, 1).model, gpu(driven, 1).drained) == ([job], "NVIDIA A100", True)
    assert f"gone since {since.astimezone():%Y-%m-%d %H:%M}: vanished from the driver" in driven.tarmac("gpus").stdout
    for word in ("1", "gone"):
        refused = driven.tarmac("gpu", "forget", word)
        assert refused.returncode != 0
        assert f"held by job {job}" in refused.stderr
    assert driven.tarmac("kill", str(job)).returncode == 0
    assert until(lambda: not gpu(driven, 1).jobs)
    assert driven.tarmac("gpu", "forget", "1").returncode == 0
    assert rows(driven) == ["GPU-0"]
    restart(driven)
    assert until(lambda: rows(driven) == ["GPU-0"])
    standin.show(*gpus(2))
    assert until(lambda: rows(driven) == ["GPU-0", "GPU-1"])
    assert until(lambda: not gpu(driven, 1).drained), "as one that was never seen before"


def test_only_gpus_that_are_gone_can_be_forgotten(driven: Home) -> None:
    refused = driven.tarmac("gpu", "forget", "0")
    assert refused.returncode != 0
    assert "GPU 0 is present" in refused.stderr
    assert driven.tarmac("gpu", "forget", "gone", "--json").stdout == '{"gpus": []}\n'
    assert rows(driven) == ["GPU-0", "GPU-1"]


def test_only_two_of_sixty_four_gpus_are_left(driven: Home, standin: Standin) -> None:
    standin.show(*gpus(64))
    assert driven.tarmac("status").returncode == 0
    assert until(lambda: len(rows(driven)) == 64)
    standin.show(*gpus(2))
    assert until(lambda: sum(gpu.gone_since is not None for gpu in driven.client().gpus()) == 62)
    assert driven.tarmac("gpu", "forget", "gone").returncode == 0
    assert rows(driven) == ["GPU-0", "GPU-1"]


def test_a_lost_driver_removes_no_gpu_from_the_list(driven: Home, standin: Standin) -> None:
    job = holding(driven, 0)
    standin.show(*gpus(2), faults={"init": DRIVER_NOT_LOADED, "count": 999})
    assert until(lambda: gpu(driven, 0).gone_since)
    assert driven.tarmac("stop").returncode == 0
    first = driven.tarmac("gpus")  # even before the agent has reported anything
    assert "No GPUs" not in first.stdout + first.stderr
    assert first.stdout.splitlines()[1].split()[0] == "0"
    assert until(lambda: rows(driven) == ["GPU-0", "GPU-1"])
    assert gpu(driven, 0).jobs == [job]


def test_a_booked_gpu_is_listed_even_if_the_agent_does_not_know_it(home: Home) -> None:
    job = holding(home, 1)
    assert home.tarmac("stop").returncode == 0
    assert home.tarmac("status", env={"TARMAC_FAKE_GPUS": "1"}).returncode == 0
    found: list[Any] = until(lambda: [gpu for gpu in home.client().gpus() if gpu.jobs == [job]])
    assert [(gpu.index, gpu.health) for gpu in found] == [(1, "the agent does not report it")]


def test_a_fixed_gpu_is_used_once_it_is_resumed(driven: Home, standin: Standin) -> None:
    assert driven.tarmac("status").returncode == 0
    first, second = gpus(2)
    standin.show(replace(first, hangs=("*",)), second)
    assert until(lambda: gpu(driven, 0).health == "does not answer")
    standin.show(first, second)
    done = driven.tarmac("gpu", "resume", "0")
    assert done.returncode == 0, done.stderr
    assert (gpu(driven, 0).drained, gpu(driven, 0).health) == (False, None)


def test_a_gpu_can_be_resumed_after_an_error_but_not_during_one(driven: Home, standin: Standin) -> None:
    assert driven.tarmac("status").returncode == 0
    first, second = gpus(2)
    standin.show(replace(first, xid=(1, 79)), replace(second, xid=(2, 79), has_failed_to_remap=True))
    assert until(lambda: gpu(driven, 0).drained and gpu(driven, 1).drained)
    assert "2 of them unhealthy" in driven.tarmac("doctor").stdout
    done = driven.tarmac("gpu", "resume", "0")
    assert done.returncode == 0, done.stderr
    assert (gpu(driven, 0).drained, gpu(driven, 0).health) == (False, None)
    refused = driven.tarmac("gpu", "resume", "1")
    assert (refused.returncode != 0, "still unhealthy" in refused.stderr) == (True, True)


def test_a_restarted_agent_does_not_make_a_gpu_healthy(driven: Home, standin: Standin) -> None:
    assert driven.tarmac("set", "healthy_s", "1").returncode == 0
    first, second = (replace(gpu, ecc_errors=0) for gpu in gpus(2))
    standin.show(first, second)
    broken = replace(first, ecc_errors=2)
    assert until(lambda: '"GPU-0":0' in (driven.path / "agent/cards.json").read_text())
    standin.show(broken, second)
    assert until(lambda: gpu(driven, 0).drained)
    before = driven.pid_of("agent")
    os.kill(before, 9)
    assert until(lambda: driven.pid_of("agent") not in {before, None})
    standin.show(broken, replace(second, memory_used_bytes=7))
    assert until(lambda: gpu(driven, 1).memory_used_bytes == 7), "read by the new one"
    assert (gpu(driven, 0).drained, gpu(driven, 0).health) == (True, "2 uncorrectable memory errors (ECC)")
