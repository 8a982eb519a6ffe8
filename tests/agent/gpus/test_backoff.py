"""When a GPU that hung is retried."""

from typing import Any

import pytest

from tarmac.agent.gpus.backoff import Backoff
from tarmac.agent.gpus.heartbeat import DriverSpot
from tarmac.agent.gpus.monitor import GpuMonitor
from tarmac.agent.gpus.probe import ProbeScope
from tarmac.agent.gpus.sources.source import new_gpu
from tests.agent.gpus.machine import Machine, health
from tests.faults.test_probe_crashes import NoLoop
from tests.nvml.standin import Gpu


def test_retries_come_soon_at_first_and_then_less_often(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TARMAC_GPU_AGAIN_S", raising=False)
    backoff = Backoff(lambda: 0.0)
    assert [backoff.next_s("a") for _ in range(6)] == [5, 10, 20, 40, 60, 60]
    assert backoff.next_s("b") == 5


def test_backoff_continues_after_a_short_recovery_and_restarts_after_a_long_one():
    now = [0.0]
    backoff = Backoff(lambda: now[0])
    assert [backoff.next_s("a"), backoff.next_s("a")] == [5, 10]
    backoff.answered("a")
    now[0] += 10
    assert backoff.next_s("a") == 20
    backoff.answered("a")
    now[0] += 60
    assert backoff.next_s("a") == 5


class Monitor(GpuMonitor):
    """It forks no probes, but notes their scopes."""

    def __init__(self) -> None:
        super().__init__(NoLoop(), lambda _: None, dict)  # type: ignore[arg-type]
        self.scopes: list[ProbeScope] = []

    def _fork(self, scope: ProbeScope, on_frame: Any) -> Any:
        self.scopes.append(scope)
        return self


def a_reading(uuid: str) -> dict[str, Any]:
    return {"gpus": [new_gpu(0, uuid, "A100", make="nvidia")], "divided": [], "absent": {}}


def test_a_request_retries_a_hanging_gpu_at_once():
    monitor = Monitor()
    monitor._health.judge(a_reading("GPU-aaaa"), ())
    monitor._probe = monitor  # type: ignore[assignment]
    spot = DriverSpot("nvidia", 0, "GPU-aaaa")
    monitor._skip(spot)
    assert monitor.try_now(["GPU-other"]) == []
    assert monitor.scopes == []
    assert monitor.try_now(["GPU-aaaa"]) == ["GPU-aaaa"]
    assert monitor.try_now(["GPU-aaaa"]) == ["GPU-aaaa"], "and not twice at a time"
    assert monitor.scopes == [ProbeScope(only=spot)]


def test_a_request_looks_for_a_missing_driver_at_once():
    monitor = Monitor()
    assert monitor.try_now(["GPU-aaaa"]) == ["GPU-aaaa"]
    assert monitor.scopes == [ProbeScope(skip=[])]


def test_the_answer_names_the_gpus_being_retried(machine: Machine):
    a = Gpu(uuid="GPU-aaaa")
    machine.driver.show(a)
    peer = machine.boot(TARMAC_GPU_AGAIN_S="600")
    health(peer, "GPU-aaaa", None)
    machine.driver.show(Gpu(uuid="GPU-aaaa", hangs=("*",)))
    health(peer, "GPU-aaaa", "does not answer")
    machine.driver.show(a)
    assert peer.ask("try_gpus", "gpus_tried", uuids=["GPU-aaaa"])["uuids"] == ["GPU-aaaa"]
    health(peer, "GPU-aaaa", None)
