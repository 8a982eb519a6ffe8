"""Real jobs on the stand-in driver, whose GPUs change while they run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.driven import driven_homes
from tests.home import Home, until
from tests.nvml.standin import GIB, GPU_IS_LOST, Gpu, Process, Standin, nvml_library, standin

__all__ = ["nvml_library", "standin"]


def gpus(count: int, **more: Any) -> list[Gpu]:
    told = {"name": "NVIDIA A100", "power_w": 50.0}
    return [Gpu(uuid=f"GPU-{index}", **(told | more)) for index in range(count)]


@pytest.fixture
def driven(standin: Standin, tmp_path: Path) -> Iterator[Home]:
    """A Tarmac home with two GPUs of the stand-in driver."""
    standin.show(*gpus(2))
    yield from driven_homes(tmp_path / "home", standin)


def state_of(home: Home, job: int) -> str:
    return home.client().job(job).state


def gpu(home: Home, number: int) -> Any:
    """Find a GPU by UUID: the driver renumbers GPUs when one vanishes."""
    return next(gpu for gpu in home.client().gpus() if gpu.uuid == f"GPU-{number}")


def why(home: Home, job: int) -> str:
    return "\n".join(home.client().job(job).why or [])


def test_ten_simultaneous_shared_jobs_never_overbook_a_gpu(driven: Home) -> None:
    ids = driven.client().submit_many([{"command": ["sleep", "60"], "gpu_memory_bytes": 9 * GIB}] * 10)
    assert until(lambda: sum(state_of(driven, job) == "running" for job in ids) == 4)
    held = [gpu(driven, index) for index in (0, 1)]
    assert [len(gpu.jobs) for gpu in held] == [2, 2]
    assert all(gpu.booked_bytes <= gpu.memory_total_bytes for gpu in held)
    assert "6.0G of 24.0G is free; 9.0G requested" in why(driven, ids[-1])


def test_a_foreign_process_blocks_a_gpu_is_named_and_its_end_frees_it(driven: Home, standin: Standin) -> None:
    with subprocess.Popen(["sleep", "300"]) as foreign:
        first, second = gpus(2)
        busy = replace(
            first,
            memory_used_bytes=20 * GIB,
            utilization=90,
            processes=(Process(pid=foreign.pid, memory_bytes=20 * GIB),),
        )
        standin.show(busy, second)
        assert driven.tarmac("status").returncode == 0
        assert until(lambda: gpu(driven, 0).held)
        assert f"held by pid {foreign.pid}" in gpu(driven, 0).held
        assert "sleep 300" in gpu(driven, 0).held
        assert [(process["pid"], process["holds_gpu"]) for process in gpu(driven, 0).processes] == [(foreign.pid, True)]
        one, two = driven.add("--", "sleep", "60"), driven.add("--", "sleep", "60")
        assert until(lambda: state_of(driven, one) == "running")
        assert driven.client().job(one).gpus[0]["index"] == 1
        assert state_of(driven, two) == "queued"
        assert f"pid {foreign.pid}" in why(driven, two)
        standin.show(first, second)
        assert until(lambda: state_of(driven, two) == "running")
        foreign.kill()


def test_memory_of_an_adopted_process_without_a_booking_counts(driven: Home, standin: Standin) -> None:
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as stranger:
        first, second = gpus(2)
        held = Process(pid=stranger.pid, memory_bytes=20 * GIB)
        standin.show(replace(first, memory_used_bytes=20 * GIB, processes=(held,)), second)
        assert driven.tarmac("status").returncode == 0
        assert until(lambda: gpu(driven, 0).held)
        adopted = int(driven.tarmac("adopt", str(stranger.pid), "--gpus", "none").stdout)
        assert until(lambda: f"job {adopted}" in (gpu(driven, 0).held or ""))
        job = driven.add("--gpus-on", "0", "--gpu-mem", "9G", "--", "sleep", "60")
        assert "4.0G of 24.0G is free; 9.0G requested; 20.0G held by pid" in why(driven, job)
        assert state_of(driven, job) == "queued"
        stranger.kill()


def test_a_gpu_that_vanishes_during_a_job_is_drained_and_the_job_continues(driven: Home, standin: Standin) -> None:
    running = driven.add("--gpus-on", "0", "--", "sleep", "60")
    assert until(lambda: state_of(driven, running) == "running")
    standin.show(gpus(2)[1])
    assert until(lambda: gpu(driven, 0).drained)
    assert gpu(driven, 0).reason
    assert state_of(driven, running) == "running"
    other = driven.add("--", "sleep", "60")
    assert until(lambda: state_of(driven, other) == "running")


def test_a_gpu_whose_calls_fail_is_drained_with_the_reason(driven: Home, standin: Standin) -> None:
    assert driven.tarmac("status").returncode == 0
    first, second = gpus(2)
    standin.show(replace(first, faults={"*": GPU_IS_LOST}), second)
    assert until(lambda: gpu(driven, 0).drained)
    assert "cannot be read" in gpu(driven, 0).reason
    assert "cannot be read" in driven.tarmac("gpus").stdout
    job = driven.add("--", "sleep", "60")
    assert until(lambda: state_of(driven, job) == "running")
    assert driven.client().job(job).gpus[0]["index"] == 1
    pinned = driven.add("--gpus-on", "0", "--", "true")
    assert "GPU 0: drained" in why(driven, pinned)
    assert state_of(driven, pinned) == "queued"
    refused = driven.tarmac("gpu", "resume", "0")
    assert refused.returncode != 0
    assert "still unhealthy" in refused.stderr


def test_a_renumbered_gpu_stays_booked_and_pinned_by_its_uuid(driven: Home, standin: Standin) -> None:
    job = driven.add("--gpus-on", "0", "--", "sleep", "60")
    waiting = driven.add("--gpus-on", "0", "--", "sleep", "60")
    assert until(lambda: state_of(driven, job) == "running")
    first, second = gpus(2)
    standin.show(second, first)
    assert until(lambda: {gpu.uuid: gpu.index for gpu in driven.client().gpus()} == {"GPU-1": 0, "GPU-0": 1})
    assert {gpu.uuid: gpu.jobs for gpu in driven.client().gpus()} == {"GPU-0": [job], "GPU-1": []}
    assert (driven.client().job(job).gpus[0]["index"], driven.client().job(waiting).gpus_on) == (1, [1])
    driven.tarmac("kill", str(job), "--grace", "0")
    assert until(lambda: state_of(driven, waiting) == "running")
    assert driven.client().job(waiting).gpus[0]["uuid"] == "GPU-0"


def test_the_index_of_a_missing_gpu_is_not_shown_for_another(driven: Home, standin: Standin) -> None:
    job = driven.add("--gpus-on", "0", "--", "sleep", "60")
    assert until(lambda: state_of(driven, job) == "running")
    standin.show(gpus(2)[1])
    assert until(lambda: {gpu.uuid: gpu.index for gpu in driven.client().gpus()} == {"GPU-0": None, "GPU-1": 0})
    assert driven.client().job(job).gpus[0]["index"] is None
    assert "(GPU-0)" in driven.tarmac("show", str(job)).stdout
    assert " ? " in driven.tarmac("ls").stdout
    shown = driven.tarmac("gpus").stdout.splitlines()
    assert [line.split()[0] for line in shown[1:3]] == ["0", "-"]
    assert "GPU-0; " in shown[2]
    assert "vanished" in shown[2]
    other = driven.add("--gpus-on", "0", "--", "sleep", "60")
    assert until(lambda: state_of(driven, other) == "running")
    assert driven.client().job(other).gpus[0]["uuid"] == "GPU-1"
    lost = driven.add("--gpus-on", "GPU-0", "--", "true")
    assert "\nGPU-0: drained: vanished from the driver" in why(driven, lost)
    assert "(GPU-0), which the job is pinned to, is gone" in why(driven, lost)


def test_a_job_pinned_to_a_missing_gpu_waits_with_a_reason(driven: Home, standin: Standin) -> None:
    assert driven.tarmac("gpu", "drain", "1").returncode == 0
    job = driven.add("--gpus-on", "GPU-1", "--", "true")
    standin.show(gpus(1)[0])
    assert until(lambda: "vanished" in (gpu(driven, 1).health or ""))
    driven.client().call("POST", "/gpus/forget", body={"gpus": ["GPU-1"]})
    assert "GPU 1 (GPU-1), which the job is pinned to, is gone" in why(driven, job)
    assert driven.client().job(job).gpus_on == ["GPU-1"]
    standin.show(*gpus(2))
    assert until(lambda: state_of(driven, job) == "succeeded")


def test_mig_switched_on_during_a_job_assigns_no_part_of_its_gpu(driven: Home, standin: Standin) -> None:
    job = driven.add("--gpus-on", "0", "--", "sleep", "60")
    assert until(lambda: state_of(driven, job) == "running")
    parts = (Gpu(uuid="MIG-0", name="NVIDIA A100 MIG 3g.20gb", memory_total_bytes=20 * GIB),)
    standin.show(replace(gpus(1)[0], instances=parts), gpus(2)[1])
    assert until(lambda: "MIG-0" in {gpu.uuid for gpu in driven.client().gpus()})
    waiting = driven.add("--gpu-model", "mig", "--", "sleep", "60")
    assert f"held by job {job}" in why(driven, waiting)
    driven.tarmac("kill", str(job), "--grace", "0")
    assert until(lambda: state_of(driven, waiting) == "running")


def test_mig_instances_are_separate_gpus(driven: Home, standin: Standin) -> None:
    parts = tuple(Gpu(uuid=f"MIG-{n}", name="NVIDIA A100 MIG 3g.20gb", memory_total_bytes=20 * GIB) for n in range(2))
    standin.show(replace(gpus(1)[0], instances=parts), gpus(2)[1])
    assert driven.tarmac("status").returncode == 0
    assert until(lambda: {gpu.uuid for gpu in driven.client().gpus()} == {"MIG-0", "MIG-1", "GPU-1"})
    job = driven.add("--gpu-model", "mig", "-c", "echo $CUDA_VISIBLE_DEVICES; sleep 60")
    assert until(lambda: state_of(driven, job) == "running")
    assert driven.client().job(job).gpus[0]["uuid"] == "MIG-0"
    assert until(lambda: b"".join(driven.client().logs(job)) == b"MIG-0\n"), "CUDA knows instances by UUID only"
    refused = driven.tarmac("add", "-g", "2", "--gpu-model", "mig", "true")
    assert "requested 2 GPUs, but a job can use only one MIG instance" in refused.stderr
    pinned = driven.tarmac("add", "--gpus-on", "MIG-0,MIG-1", "true")
    assert "a job can use only one MIG instance" in pinned.stderr


def test_models_are_chosen_among_sixty_four_mixed_gpus(driven: Home, standin: Standin) -> None:
    many = [Gpu(uuid=f"GPU-{n}", name="NVIDIA H100" if n % 8 == 7 else "NVIDIA A100") for n in range(64)]
    standin.show(*many)
    assert driven.tarmac("status").returncode == 0
    assert until(lambda: len(driven.client().gpus()) == 64)
    wide = driven.add("-g", "8", "--gpu-model", "h100", "--", "sleep", "60")
    rest = driven.add("-g", "56", "--", "sleep", "60")
    assert until(lambda: state_of(driven, rest) == "running")
    assert [gpu["index"] for gpu in driven.client().job(wide).gpus] == list(range(7, 64, 8))
    assert len(driven.tarmac("gpus").stdout.splitlines()) >= 64


def test_the_peak_memory_of_a_job_is_stored(driven: Home, standin: Standin) -> None:
    job = driven.add("--", "sleep", "60")
    assert until(lambda: state_of(driven, job) == "running")
    pid = driven.client().job(job).pid
    assert pid is not None
    first, second = gpus(2)
    used = replace(
        first,
        memory_used_bytes=7 * GIB,
        utilization=80,
        power_w=250.0,
        processes=(Process(pid=pid, memory_bytes=7 * GIB),),
    )
    standin.show(used, second)
    assert until(lambda: driven.client().job(job).peak_gpu_memory_bytes == 7 * GIB)
    assert driven.client().gpus()[0].processes[0]["job"] == job
    assert gpu(driven, 0).held is None
    standin.show(replace(used, processes=(Process(pid=pid, memory_bytes=GIB),)), second)
    assert driven.tarmac("stop").returncode == 0
    assert driven.tarmac("status").returncode == 0
    assert driven.client().job(job).peak_gpu_memory_bytes == 7 * GIB, "also by a new controller"
    os.kill(pid, 9)
    assert until(lambda: state_of(driven, job) == "failed")
    ended = driven.client().job(job)
    assert ended.peak_gpu_memory_bytes == 7 * GIB
    assert ended.utilization is not None
    assert ended.energy_j is not None
