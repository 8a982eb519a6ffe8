from typing import Any

import pytest

from tarmac.cli.demand import demands, energy, taken
from tarmac.cli.show import description

G = 1 << 30


def a_job(**fields: Any) -> dict[str, Any]:
    return {
        "id": 7, "state": "running", "name": None, "gpus_asked": 1, "gpus": [], "command": ["python", "train.py"],
        "cwd": "/w", "owner": "ann", "priority": 10, "attempt": 1, "submitted_at": "2027-01-15T07:50:00.000Z",
        "started_at": None, "ended_at": None, "progress": None, "log_path": "/l", **fields,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, []),
        ({"gpu_memory_bytes": 8 * G}, [("shares", "8.0G of a GPU booked")]),
        ({"gpu_share": 0.5, "gpus_asked": 2}, [("shares", "50% of each GPU booked")]),
        ({"gpu_models": ["a100", "h100"]}, [("only on", "a100 or h100")]),
        ({"gpu_models": ["a"], "min_gpu_memory_bytes": 40 * G}, [("only on", "a; 40.0G of memory or more")]),
        ({"gpus_on": [0, 1, 3], "exclude_gpus": [2]}, [("only on", "index 0-1,3; not index 2")]),
        ({"gpus_on": [2, "GPU-a"], "exclude_gpus": ["GPU-b"]}, [("only on", "index 2, GPU-a; not GPU-b")]),
        ({"idle_below": 20}, [("only on", "less than 20% busy")]),
        ({"memory_bytes": 16 * G, "cpus": 4}, [("host", "16.0G of memory booked, 4 cores")]),
    ],
)
def test_what_a_job_asked_for(fields: dict[str, Any], said: list[tuple[str, str]]) -> None:
    assert list(demands(a_job(**fields))) == said


def test_what_a_job_took() -> None:
    assert taken(a_job()) == ""
    used = a_job(peak_gpu_memory_bytes=7 * G, utilization=83.4, energy_j=7200.0)
    assert taken(used) == "at most 7.0G of GPU memory, GPUs 83% busy on average, 2.0 Wh"
    assert taken(a_job(utilization=0.0)) == "GPUs 0% busy on average"


@pytest.mark.parametrize(("joules", "words"), [(540, "540 J"), (3600, "1.0 Wh"), (9e6, "2.5 kWh")])
def test_energy(joules: float, words: str) -> None:
    assert energy(joules) == words


def test_warnings_stand_on_top_and_the_reasons_below_each_other() -> None:
    lines = description(a_job(warnings=["idle for 35 min"], why=["next in the queue", "GPU 0: drained: fan"]))
    assert [line.strip() for line in lines[2:5]] == [
        "warning    idle for 35 min",
        "why        next in the queue",
        "GPU 0: drained: fan",
    ]
