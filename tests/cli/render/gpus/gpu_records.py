"""GPU records of the API, for tests of rendering."""

from typing import Any

from tarmac.client.records import Gpu

NOW = 1_800_000_000.0
THREE_HOURS_AGO = "2027-01-15T05:00:00.000Z"
G = 1 << 30


def a_gpu(index: int = 0, **fields: Any) -> Gpu:
    return Gpu({
        "node": "n1", "index": index, "uuid": f"GPU-{index}", "model": "NVIDIA A100-SXM4-80GB", "make": "nvidia",
        "parent": None, "memory_total_bytes": 80 * G, "memory_used_bytes": 0, "utilization": 0, "temperature": 31,
        "power_w": 52.4, "slots": 1, "booked_bytes": 0, "jobs": [], "processes": [], "drained": False,
        "drained_by": None, "reason": None, "health": None, "gone_since": None, "held": None, **fields,
    })  # fmt: skip


def a_process(pid: int = 4242, **fields: Any) -> dict[str, Any]:
    return {
        "pid": pid, "user": "bob", "command": "python train.py", "memory_bytes": 30 * G, "started_at": THREE_HOURS_AGO,
        "job": None, "attempt": None, "ignored": False, "holds_gpu": False, **fields,
    }  # fmt: skip


def a_busy_server() -> list[Gpu]:
    """One of every kind."""
    held = "held by pid 4242 of bob (python train.py) for 3 h"
    own = a_process(77, user="ann", job=7, attempt=1)
    return [
        a_gpu(0, memory_used_bytes=61 * G, utilization=97, temperature=71, power_w=388.0, jobs=[7], processes=[own]),
        a_gpu(1, memory_used_bytes=9 * G, booked_bytes=40 * G, utilization=40, jobs=[8, 9, 11], slots=4),
        a_gpu(2, memory_used_bytes=30 * G, utilization=55, held=held, processes=[a_process(holds_gpu=True)]),
        a_gpu(3, drained=True, reason="fan is replaced on Monday"),
        a_gpu(4, health="48 uncorrectable ECC errors", drained=True, reason="48 uncorrectable ECC errors"),
        a_gpu(
            5,
            memory_used_bytes=G >> 3,
            processes=[a_process(900, user="root", command="Xorg", memory_bytes=G >> 4, ignored=True)],
        ),
        a_gpu(6, utilization=None, temperature=None, power_w=None, memory_used_bytes=None, health="does not answer"),
        a_gpu(7, model="NVIDIA A100-SXM4-80GB MIG 1g.10gb", memory_total_bytes=10 * G, parent="GPU-x"),
    ]
