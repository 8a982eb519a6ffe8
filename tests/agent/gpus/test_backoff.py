"""When a GPU that hung is tried again."""

from typing import Any

import pytest

from tarmac.agent.gpus.backoff import Retries
from tarmac.agent.gpus.heartbeat import DriverSpot
from tarmac.agent.gpus.monitor import GpuWatch
from tarmac.agent.gpus.probe import Order
from tests.agent.gpus.machine import Machine, health
from tests.faults.test_probe_crashes import NoLoop
from tests.nvml.standin import Gpu


def test_soon_at_first_and_then_ever_less_often(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TARMAC_GPU_AGAIN_S", raising=False)
    retries = Retries(lambda: 0.0)
    assert [retries.next_s("a") for _ in range(6)] == [5, 10, 20, 40, 60, 60]
    assert retries.next_s("b") == 5


def test_one_that_hangs_again_at_once_goes_on_where_it_was_and_one_that_was_well_begins_anew():
    now = [0.0]
    retries = Retries(lambda: now[0])
    assert [retries.next_s("a"), retries.next_s("a")] == [5, 10]
    retries.answered("a")
    now[0] += 10
    assert retries.next_s("a") == 20
    retries.answered("a")
    now[0] += 60
    assert retries.next_s("a") == 5


class Watch(GpuWatch):
    """Whose probes never are."""

    def __init__(self) -> None:
        super().__init__(NoLoop(), lambda _: None, dict)  # type: ignore[arg-type]
        self.orders: list[Order] = []

    def _fork(self, order: Order, heard: Any) -> Any:
        self.orders.append(order)
        return self


def a_reading(uuid: str) -> dict[str, Any]:
    gpu = {"index": 0, "uuid": uuid, "make": "nvidia", "parent": None, "processes": [], "fault": None}
    return {"gpus": [{**gpu, "repair": None, "ecc_errors": None}], "divided": [], "absent": {}}


def test_a_person_who_asks_is_not_kept_waiting():
    watch = Watch()
    watch._ledger.judge(a_reading("GPU-aaaa"), ())
    watch._probe = watch  # type: ignore[assignment]
    place = DriverSpot("nvidia", 0, "GPU-aaaa")
    watch._leave_out(place)
    assert watch.try_now(["GPU-other"]) == []
    assert watch.orders == []
    assert watch.try_now(["GPU-aaaa"]) == ["GPU-aaaa"]
    assert watch.try_now(["GPU-aaaa"]) == ["GPU-aaaa"], "and not twice at a time"
    assert watch.orders == [Order(only=place)]


def test_a_driver_that_is_gone_is_looked_for_when_somebody_asks():
    watch = Watch()
    assert watch.try_now(["GPU-aaaa"]) == ["GPU-aaaa"]
    assert watch.orders == [Order(skip=[])]


def test_the_answer_names_what_is_tried(machine: Machine):
    a = Gpu(uuid="GPU-aaaa")
    machine.driver.show(a)
    peer = machine.boot(TARMAC_GPU_AGAIN_S="600")
    health(peer, "GPU-aaaa", None)
    machine.driver.show(Gpu(uuid="GPU-aaaa", hangs=("*",)))
    health(peer, "GPU-aaaa", "does not answer")
    machine.driver.show(a)
    assert peer.ask("try_gpus", "gpus_tried", uuids=["GPU-aaaa"])["uuids"] == ["GPU-aaaa"]
    health(peer, "GPU-aaaa", None)
