import getpass
import os
import subprocess
import sys
import time
from itertools import pairwise

from tarmac.agent.gpus.probe import is_busy
from tests.nvml.reading import Frame, ProbeRun
from tests.nvml.standin import (
    DRIVER_NOT_LOADED,
    GIB,
    GPU_IS_LOST,
    VERSION_MISMATCH,
    Gpu,
    Process,
    Standin,
)

A = Gpu(uuid="GPU-aaaa", name="NVIDIA A100-SXM4-80GB", memory_total_bytes=80 * GIB)
B = Gpu(uuid="GPU-bbbb")


def uuids(frame: Frame) -> list[str]:
    return [gpu["uuid"] for gpu in frame["gpus"]]


def test_reads_every_gpu_of_the_machine(standin: Standin):
    standin.show(A, Gpu(uuid="GPU-bbbb", memory_used_bytes=2 * GIB, utilization=37, temperature=51))
    with ProbeRun(env=standin.env) as probe:
        frame = probe.frame()
    assert frame is not None
    assert (frame["type"], frame["absent"], frame["source"]) == ("gpus", {}, "nvml")
    assert 0 < frame["host"]["memory_available_bytes"] <= frame["host"]["memory_total_bytes"]
    first, second = frame["gpus"]
    assert first == {
        "index": 0,
        "uuid": "GPU-aaaa",
        "model": "NVIDIA A100-SXM4-80GB",
        "memory_total_bytes": 80 * GIB,
        "memory_used_bytes": 0,
        "utilization": 0,
        "temperature": 30,
        "power_w": None,
        "links": {},
        "parent": None,
        "make": "nvidia",
        "processes": [],
        "fault": None,
        "repair": None,
        "ecc_errors": None,
    }
    assert (second["index"], second["uuid"], second["utilization"], second["temperature"]) == (1, "GPU-bbbb", 37, 51)


def test_memory_reserved_by_the_driver_does_not_count_as_used(standin: Standin):
    standin.show(Gpu(uuid="GPU-aaaa", memory_used_bytes=GIB, memory_reserved_bytes=GIB // 2))
    with ProbeRun(env=standin.env) as probe:
        assert probe.until(lambda f: f["gpus"][0]["memory_used_bytes"] == GIB)


def test_an_old_driver_without_the_newer_calls_is_read(standin: Standin):
    gpu = Gpu(uuid="GPU-aaaa", memory_used_bytes=GIB, processes=(Process(pid=os.getpid()),))
    standin.show(gpu, without=("nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3"))
    with ProbeRun(env=standin.env) as probe:
        frame = probe.frame()
    assert frame is not None
    assert frame["gpus"][0]["memory_used_bytes"] == GIB
    assert [p["pid"] for p in frame["gpus"][0]["processes"]] == [os.getpid()]


def test_unsupported_values_are_null(standin: Standin):
    standin.show(Gpu(uuid="GPU-aaaa", utilization=None, temperature=None))
    with ProbeRun(env=standin.env) as probe:
        frame = probe.frame()
    assert frame is not None
    assert (frame["gpus"][0]["utilization"], frame["gpus"][0]["temperature"]) == (None, None)


def test_a_change_is_reported(standin: Standin):
    standin.show(A)
    with ProbeRun(env=standin.env) as probe:
        assert probe.until(lambda f: f["gpus"][0]["memory_used_bytes"] == 0)
        standin.show(Gpu(uuid="GPU-aaaa", memory_used_bytes=5 * GIB, utilization=90))
        assert probe.until(lambda f: f["gpus"][0]["memory_used_bytes"] == 5 * GIB)


def test_no_frame_is_sent_while_nothing_changes(standin: Standin):
    standin.show(A)
    with ProbeRun(env=standin.env, alive_s=0.3) as probe:
        frames = [probe.frame() or {} for _ in range(6)]
    assert frames[0]["type"] == "gpus"
    assert "alive" in {frame["type"] for frame in frames}
    readings = [frame for frame in frames if frame["type"] == "gpus"]
    assert all(one != other for one, other in pairwise(readings)), "the free memory of a busy host may change"


def test_a_process_appears_with_its_user_and_command_and_goes_again(standin: Standin):
    standin.show(A)
    before = time.time()
    worker = subprocess.Popen([sys.executable, "-c", "input()", "--lr=0.1"], stdin=subprocess.PIPE)
    with ProbeRun(env=standin.env) as probe:
        standin.show(Gpu(uuid="GPU-aaaa", processes=(Process(pid=worker.pid, memory_bytes=3 * GIB),)))
        frame = probe.until(lambda f: bool(f["gpus"][0]["processes"]))
        standin.show(A)
        assert probe.until(lambda f: not f["gpus"][0]["processes"])
    worker.communicate(b"\n")
    (holder,) = frame["gpus"][0]["processes"]
    assert (holder["pid"], holder["user"], holder["memory_bytes"]) == (worker.pid, getpass.getuser(), 3 * GIB)
    assert holder["command"] == f"{sys.executable} -c input() --lr=0.1"
    assert abs(holder["started_at"] - before) < 60


def test_a_process_on_both_lists_is_reported_once(standin: Standin):
    both = (Process(pid=os.getpid(), memory_bytes=GIB), Process(pid=os.getpid(), memory_bytes=2 * GIB, kind="G"))
    standin.show(Gpu(uuid="GPU-aaaa", processes=both))
    with ProbeRun(env=standin.env) as probe:
        frame = probe.frame()
    assert frame is not None
    assert [(p["pid"], p["memory_bytes"]) for p in frame["gpus"][0]["processes"]] == [(os.getpid(), 2 * GIB)]


def test_a_process_that_cannot_be_looked_up_is_still_reported(standin: Standin):
    standin.show(Gpu(uuid="GPU-aaaa", processes=(Process(pid=2**30),)))  # a pid of another namespace
    with ProbeRun(env=standin.env) as probe:
        frame = probe.frame()
    assert frame is not None
    (holder,) = frame["gpus"][0]["processes"]
    assert (holder["pid"], holder["memory_bytes"]) == (2**30, GIB)
    assert (holder["user"], holder["command"], holder["started_at"]) == (None, None, None)


def test_a_gpu_that_fails_does_not_hide_the_others(standin: Standin):
    standin.show(A, B)
    with ProbeRun(env=standin.env) as probe:
        assert probe.until(lambda f: uuids(f) == ["GPU-aaaa", "GPU-bbbb"])
        standin.show(Gpu(uuid="GPU-aaaa", faults={"*": GPU_IS_LOST}), B)
        lost, other = probe.until(lambda f: f["gpus"][0]["fault"] is not None)["gpus"]
        assert (lost["uuid"], lost["fault"]) == (None, "cannot be read: GPU is lost")
        assert (other["index"], other["uuid"], other["fault"]) == (1, "GPU-bbbb", None)
        standin.show(A, B)
        assert probe.until(lambda f: uuids(f) == ["GPU-aaaa", "GPU-bbbb"])["gpus"][0]["fault"] is None


def test_a_driver_call_that_hangs_leaves_a_process_that_can_be_killed(standin: Standin):
    standin.show(A)
    with ProbeRun(env=standin.env, alive_s=0.05) as probe:
        assert probe.until(lambda f: f["type"] == "alive")
        standin.show(Gpu(uuid="GPU-aaaa", hangs=("memory",)))
        while probe.frame(patience_s=1.0) is not None:  # the silence that the agent notices
            pass
        assert probe.process.poll() is None
        probe.process.kill()
        assert probe.ended() == -9


def test_the_probe_ends_with_a_reason_without_a_driver():
    with ProbeRun(env={"LD_LIBRARY_PATH": ""}) as probe:
        frame = probe.frame()
        assert probe.ended() == 3
    assert frame is not None
    assert (frame["gpus"], frame["source"]) == ([], "none")
    assert frame["absent"] == {"nvidia": "no NVIDIA driver: libnvidia-ml.so.1 was not found"}


def test_a_driver_that_does_not_start_is_explained(standin: Standin):
    for code, words in ((DRIVER_NOT_LOADED, "not loaded"), (VERSION_MISMATCH, "reboot"), (999, "Unknown Error")):
        standin.show(A, faults={"init": code})
        with ProbeRun(env=standin.env) as probe:
            frame = probe.frame()
            assert probe.ended() == 3
        assert frame is not None
        assert words in frame["absent"]["nvidia"]


def test_the_probe_ends_with_a_reason_when_the_driver_disappears(standin: Standin):
    standin.show(A)
    with ProbeRun(env=standin.env) as probe:
        assert probe.until(lambda f: uuids(f) == ["GPU-aaaa"])
        standin.show(A, faults={"count": 999})
        assert probe.until(lambda f: bool(f["absent"]))["gpus"] == []
        assert probe.ended() == 4


def test_the_probe_ends_when_its_pipe_is_closed(standin: Standin):
    standin.show(A)
    with ProbeRun(env=standin.env, pace_s=60) as probe:
        assert probe.frame() is not None
        assert probe.process.stdout is not None
        probe.process.stdout.close()
        assert probe.ended() == 0


def test_a_used_gpu_is_busy_and_one_that_only_cools_down_is_not():
    idle = {"processes": [], "utilization": 0, "memory_used_bytes": 5, "temperature": 40}
    assert not is_busy([{**idle, "temperature": 39}], [idle])
    assert is_busy([{**idle, "processes": [{"pid": 1}]}], [idle])
    assert is_busy([{**idle, "utilization": 3}], [idle])
    assert is_busy([{**idle, "memory_used_bytes": 6}], [idle])
