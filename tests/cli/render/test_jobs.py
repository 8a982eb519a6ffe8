import time
from typing import Any

import pytest

from tarmac.cli.render.job import command_of
from tarmac.cli.render.jobs import in_order, table
from tarmac.cli.render.text import cells
from tarmac.client.records import Job

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z


def a_job(number: int, state: str = "queued", **fields: Any) -> Job:
    return Job({
        "id": number, "state": state, "name": None, "gpus_asked": 1, "gpus": [], "command": ["python", "train.py"],
        "submitted_at": "2027-01-15T07:50:00.000Z", "elapsed_s": None, "ended_at": None, "progress": None,
        "exit_code": None, "signal": None, "reason": None, "priority": 10, **fields,
    })  # fmt: skip


def running(number: int, *indices: int, **fields: Any) -> Job:
    gpus = [{"node": "n", "index": index, "uuid": f"GPU-{index}", "name": str(index)} for index in indices]
    return a_job(number, "running", gpus=gpus, elapsed_s=90.0, **fields)


def plain(jobs: list[Job], width: int | None = None) -> list[str]:
    return table(jobs, width=width, has_colours=False, now=NOW)


def test_running_jobs_come_first_then_the_queue_then_the_newest_ended() -> None:
    jobs = [a_job(1, "failed"), a_job(2), a_job(3, "succeeded"), a_job(4, priority=0), running(5, 0), a_job(6)]
    assert [job.id for job in in_order(jobs)] == [5, 4, 2, 6, 3, 1]


def test_waiting_jobs_are_in_queue_order_before_held_jobs() -> None:
    jobs = [a_job(1, position=2), a_job(2, position=1), a_job(3), a_job(4, "draft"), a_job(5, "held"), running(6, 0)]
    jobs += [a_job(7, position=1, tier="urgent"), a_job(8, position=1, tier="preemptible")]
    assert [job.id for job in in_order(jobs)] == [6, 7, 2, 1, 3, 8, 5, 4]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"waits_for": [7, 8], "estimated_start": "2027-01-15T09:30:00.000Z"}, "waits for 7-8"),
        ({"begin_at": "2027-01-15T09:30:00.000Z"}, "from 09:30"),
        ({"begin_at": "2027-01-15T09:30:00.000Z", "estimated_start": "2027-01-15T09:30:00.000Z"}, "at 09:30"),
        ({"begin_at": "2027-01-15T09:30:00.000Z", "estimated_start": "2027-01-15T10:30:00.000Z"}, "~10:30"),
        ({"begin_at": "2027-01-15T07:30:00.000Z", "estimated_start": "2027-01-16T09:30:00.000Z"}, "~Sat 09:30"),
        ({"estimated_start": "2027-01-15T09:30:00.000Z"}, "~09:30"),
        ({"estimated_start": "2027-01-15T09:30:00.000Z", "estimate_rests_on": ["limit"]}, "~09:30"),
        (
            {"estimated_start": "2027-01-15T09:30:00.000Z", "estimate_rests_on": ["limit", "progress"]},
            "~09:30*",
        ),
    ],
)
def test_the_start_of_a_job_is_shown_and_an_estimate_is_marked(
    fields: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    head, row, other = plain([a_job(1, **fields), a_job(2)])
    assert head.split() == ["ID", "STATE", "GPUS", "TIME", "STARTS", "COMMAND"]
    assert f"-  {words}  python" in row
    assert words not in other


def test_held_and_running_jobs_show_no_start() -> None:
    soon = "2027-01-15T09:30:00.000Z"
    jobs = [running(1, 0, estimated_start=soon), a_job(2, "held", estimated_start=soon, begin_at=soon)]
    assert "STARTS" not in plain(jobs)[0]


def test_the_attempt_of_a_preempted_job_is_shown() -> None:
    jobs = [running(1, 0, attempt=2), running(2, 1, attempt=1), a_job(3, attempt=1), a_job(4, attempt=0)]
    jobs.append(a_job(5, "failed", exit_code=3, attempt=2))
    assert [line[4:20].rstrip() for line in plain(jobs)[1:]] == [
        "running, attempt", "running", "queued, attempt", "queued", "failed (exit 3)",
    ]  # fmt: skip
    assert "running, attempt 2" in plain(jobs)[1]
    assert "queued, attempt 2" in plain(jobs)[3]


def test_the_columns_of_a_job() -> None:
    jobs = [running(3, 0, 1, 2), a_job(12, gpus_asked=2), a_job(4, "failed", exit_code=3, gpus_asked=0)]
    assert plain(jobs) == [
        "ID  STATE            GPUS   TIME  COMMAND",
        " 3  running          0-2   1m30s  python train.py",
        "12  queued           (2)       -  python train.py",
        " 4  failed (exit 3)  -         -  python train.py",
    ]


def test_names_and_progress_have_columns_only_if_a_job_has_them() -> None:
    head, *rows = plain([running(1, 0, name="big", progress={"fraction": 0.42, "eta_s": 83.0}), a_job(2)])
    assert head.split() == ["ID", "STATE", "GPUS", "TIME", "DONE", "LEFT", "NAME", "COMMAND"]
    assert "42%  1m23s  big" in rows[0]


def test_warnings_have_a_column_only_if_a_job_has_one() -> None:
    head, first, second = plain([running(1, 0, warnings=["idle for 35 min"]), running(2, 1, warnings=[])])
    assert head.split() == ["ID", "STATE", "GPUS", "TIME", "WARNING", "COMMAND"]
    assert "1m30s  idle for 35 min  python" in first
    assert "1m30s                   python" in second
    assert "WARNING" not in plain([running(2, 1, warnings=[])])[0]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"exit_code": 3, "reason": "exit"}, "failed (exit 3)"),
        ({"signal": 11, "reason": "signal"}, "failed (SIGSEGV)"),
        ({"signal": 40, "reason": "signal"}, "failed (signal 40)"),
        ({"reason": "launch"}, "failed (launch)"),
        ({"reason": "timeout", "signal": 15}, "failed (timeout)"),
        ({"reason": "oom-gpu", "exit_code": 1}, "failed (oom-gpu)"),
        ({"reason": "oom-host", "signal": 9}, "failed (oom-host)"),
        ({"reason": "killed", "signal": 9}, "failed (killed)"),
        ({"reason": "dependency"}, "failed (dependency)"),
    ],
)
def test_the_kind_of_failure_is_shown(fields: dict[str, Any], words: str) -> None:
    assert words in plain([a_job(1, "failed", **fields)])[1]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    jobs = [running(1, 0, name="训练" * 40, command=["echo", "数据🚀" * 99]), a_job(2, command=["x" * 999]), a_job(3)]
    assert all(cells(line) <= width for line in plain(jobs, width))


def test_without_a_terminal_nothing_is_cut() -> None:
    assert "x" * 999 in plain([a_job(1, command=["x" * 999])])[1]


def test_columns_stay_aligned_behind_wide_characters() -> None:
    _, first, second = plain([a_job(1, name="训练"), a_job(2, name="abcd")])
    assert cells(first[: first.index("python")]) == cells(second[: second.index("python")])


def test_control_characters_in_user_text_are_escaped() -> None:
    lines = plain([a_job(1, name="a\nb\x1b[2J", command=["echo", "\x07\u202e"])])
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


def test_colours_do_not_change_the_layout() -> None:
    jobs = [running(1, 0), a_job(2), a_job(3, "failed", exit_code=1), a_job(4, "unknown")]
    coloured = "\n".join(table(jobs, width=80, has_colours=True, now=NOW))
    assert "\x1b[32m" in coloured
    for code in ("0", "1", "2", "31", "32", "36", "1;31"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert [line.rstrip() for line in coloured.split("\n")] == plain(jobs, 80)


def test_a_gpu_without_an_index_is_a_question_mark() -> None:
    gpus = [{"node": "n", "index": index, "uuid": f"GPU-{index}", "name": str(index)} for index in (1, 2, None)]
    assert plain([a_job(1, "running", gpus=gpus)])[1].split()[2] == "1-2,?"


def test_gpus_of_several_nodes_are_shown_with_their_node_as_one_may_type_it() -> None:
    gpus = [
        {"node": "second", "index": index, "uuid": f"GPU-{index}", "name": f"second:{index}"} for index in (0, 1, 3)
    ]
    assert plain([a_job(1, "running", gpus=gpus)])[1].split()[2] == "second:0-1,second:3"


def test_a_shell_string_is_shown_as_it_was_given() -> None:
    assert command_of(a_job(1, command=["sh", "-c", "make && ./train"])) == "make && ./train"
    assert command_of(a_job(1, command=["sh", "-c", "echo $1", "x", "y"])) == "sh -c 'echo $1' x y"
