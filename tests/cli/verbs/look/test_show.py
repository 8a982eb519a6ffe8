from typing import Any

import pytest

from tarmac.cli.render.job import energy, place_in_queue, used
from tarmac.cli.render.show.job_options import option_lines
from tarmac.cli.render.show.story import story
from tarmac.cli.verbs.look.show import _descent, description
from tarmac.client.records import Job
from tarmac.shared.clocks import clock

G = 1 << 30
NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z


def a_job(**fields: Any) -> Job:
    return Job({
        "id": 7, "state": "running", "name": None, "gpus_asked": 1, "gpus": [], "command": ["python", "train.py"],
        "cwd": "/w", "owner": "ann", "priority": 10, "attempt": 1, "submitted_at": "2027-01-15T07:50:00.000Z",
        "started_at": None, "ended_at": None, "progress": None, "log_path": "/l", **fields,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, []),
        ({"gpu_memory_bytes": 8 * G}, [("shares", "8.0G of each GPU reserved")]),
        ({"gpu_share": 0.5}, [("shares", "50% of each GPU reserved")]),
        ({"gpu_models": ["a100", "h100"]}, [("only on", "a100 or h100")]),
        ({"gpu_models": ["a"], "min_gpu_memory_bytes": 40 * G}, [("only on", "a; 40.0G of memory or more")]),
        ({"gpus_on": [0, 1, 3], "exclude_gpus": [2]}, [("only on", "index 0-1,3; not index 2")]),
        ({"gpus_on": [2, "GPU-a"], "exclude_gpus": ["GPU-b"]}, [("only on", "index 2, GPU-a; not GPU-b")]),
        ({"idle_below": 20}, [("only on", "less than 20% busy")]),
        ({"tier": "urgent"}, [("tier", "urgent")]),
        ({"tier": "normal", "stop_signal": 15, "tags": []}, []),
        ({"tags": ["a", "b\n"], "project": "p"}, [("tags", "a, b\\n"), ("project", "p")]),
        ({"time_limit_s": 5400.0}, [("limit", "1h30m")]),
        ({"begin_at": "2027-01-15T08:00:00.000Z"}, [("begins", f"not before {clock(NOW, NOW)}")]),
        ({"grace_s": 10.0}, []),
        ({"grace_s": 0.0}, [("grace", "0s between the stop signal and SIGKILL")]),
        ({"grace_s": 120.0}, [("grace", "2m between the stop signal and SIGKILL")]),
        ({"stop_signal": 10}, [("stop signal", "SIGUSR1")]),
        ({"stop_signal": 40}, [("stop signal", "signal 40")]),
        ({"memory_bytes": 16 * G, "cpus": 4}, [("host", "16.0G of memory reserved; 4 cores reserved")]),
    ],
)
def test_show_prints_the_options_of_a_job(fields: dict[str, Any], said: list[tuple[str, str]]) -> None:
    assert [line for line in option_lines(a_job(**fields), NOW) if line[0] != "priority"] == said


def test_show_prints_the_use_of_a_job() -> None:
    assert used(a_job()) == ""
    job = a_job(peak_gpu_memory_bytes=7 * G, utilization=83.4, energy_j=7200.0)
    assert used(job) == "at most 7.0G of GPU memory, GPUs 83% busy on average, 2.0 Wh"
    assert used(a_job(utilization=0.0)) == "GPUs 0% busy on average"
    beside = a_job(peak_gpu_memory_bytes=7 * G, reserved_gpu_memory_bytes=24 * G, held_gpu_s=4500.0)
    assert used(beside) == "at most 7.0G of the 24.0G reserved on each GPU, 1.25 GPU-hours"
    assert used(a_job(held_gpu_s=20.0)) == ""


@pytest.mark.parametrize(("joules", "words"), [(540, "540 J"), (3600, "1.0 Wh"), (9e6, "2.5 kWh")])
def test_energy(joules: float, words: str) -> None:
    assert energy(joules) == words


def test_warnings_are_first_and_reasons_on_separate_lines() -> None:
    lines = description(a_job(warnings=["idle for 35 min"], why=["next in the queue", "GPU 0: drained: fan"]))
    assert [line.strip() for line in lines[2:5]] == [
        "warning    idle for 35 min",
        "why        next in the queue",
        "GPU 0: drained: fan",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"after": [], "position": None}, []),
        ({"position": 1200}, [("place", "1,200 of its owner's waiting jobs")]),
        ({"held_by": "bob"}, [("held", "by bob; `tarmac release 7` releases it")]),
        ({"group": 5, "params": {"lr": "1e-3", "x": "a\n"}}, [("group", "5"), ("params", r"lr=1e-3 x=a\n")]),
        ({"group": 5, "index": 2}, [("group", "5, index 2")]),
        (
            {"group": 5, "index": 2, "max_running": 4},
            [("group", "5, index 2, at most 4 at once")],
        ),
        ({"after": ["3:ok", "4:any"]}, [("after", "3:ok, 4:any")]),
    ],
)
def test_show_prints_what_decides_when_a_job_runs(fields: dict[str, Any], said: list[tuple[str, str]]) -> None:
    assert list(place_in_queue(a_job(**fields))) == said


def test_an_imported_job_does_not_claim_another_queue() -> None:
    assert list(_descent(a_job(original_id=7, clone_of=None, rerun_of=None))) == [
        ("imported", "with the id it was submitted with")
    ]
    assert list(_descent(a_job(original_id=3, clone_of=None, rerun_of=2))) == [
        ("imported", "submitted as job 3"),
        ("rerun of", "job 2"),
    ]


def test_an_estimate_is_marked_with_its_basis() -> None:
    job = a_job(state="queued", estimated_start="2027-01-15T09:30:00.000Z", estimate_basis="time limits")
    [line] = [line for line in description(job) if line.startswith("  starts")]
    assert "~2027-01-15 " in line
    assert line.endswith(", an estimate based on time limits")


def test_the_tag_adopted_does_not_make_a_job_an_adopted_one() -> None:
    fields = {"log_path": "/dev/null", "stdout_path": "/dev/null", "stderr_path": "/dev/null", "tags": ["adopted"]}
    assert description(a_job(adopted=False, **fields))[-1].split() == ["log", "/dev/null"]
    assert description(a_job(adopted=True, **fields))[-1].endswith("its output is not redirected")


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (
            {"count": 1, "processes": [{"pid": 12, "command": "python loader.py"}]},
            "1 process, ended by Tarmac: python loader.py (pid 12)",
        ),
        (
            {"count": 1201, "processes": [{"pid": 12, "command": "a\x1b[31m"}, {"pid": 13, "command": None}]},
            "1,201 processes, ended by Tarmac: a\\x1b[31m (pid 12), pid 13 and 1,199 more",
        ),
    ],
)
def test_processes_that_were_left_behind_are_named(left: dict[str, Any], said: str) -> None:
    [line] = [line for line in description(a_job(leftovers=left)) if line.startswith("  left behind")]
    assert line == f"  left behind  {said}"
    event: Any = {
        "id": 1,
        "at": "2026-01-01T10:00:00.000Z",
        "attempt": 1,
        "kind": "LeftoversEnded",
        "detail": left,
    }
    assert story(7, [event])[1].endswith(f"  left behind  {said}")
