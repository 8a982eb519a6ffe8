from pathlib import Path

import pytest

from bench.scheduling.workload import at_load, in_order, read_jobs, synthetic_jobs, windows

HEADER = "submit_s,owner,gpus,duration_s,factor,share\n"


def test_jobs_are_read_in_the_order_of_their_submits(tmp_path: Path):
    (tmp_path / "jobs.csv").write_text(HEADER + "90,ann,1,100,2.5,\n50,bob,8,30,1.5,\n")
    first, second = read_jobs(str(tmp_path / "jobs.csv"))
    assert (first.number, first.submit_s, first.owner, first.gpus, first.limit_s) == (0, 0.0, "bob", 8, 45.0)
    assert (second.number, second.submit_s, second.owner, second.limit_s) == (1, 40.0, "ann", 250.0)


def test_a_limit_is_at_least_the_duration_and_jobs_that_fit_nowhere_are_left_out(tmp_path: Path):
    (tmp_path / "jobs.csv").write_text(HEADER + "0,ann,1,100,0.5,\n1,bob,16,30,1.5,\n2,cleo,0,30,1.5,\n")
    (job,) = read_jobs(str(tmp_path / "jobs.csv"))
    assert job.limit_s == job.duration_s == 100.0


def test_synthetic_jobs_have_limits_that_they_keep():
    jobs = synthetic_jobs(500)
    assert len(jobs) == 500
    assert all(job.limit_s >= job.duration_s for job in jobs)


def test_windows_are_consecutive_jobs_that_begin_at_0():
    jobs = synthetic_jobs(1000)
    found = windows(jobs, 4, 100)
    assert [len(window) for window in found] == [100] * 4
    assert all(window[0].submit_s == 0.0 for window in found)
    assert [job.number for job in found[3]] == list(range(100))
    assert len({window[0].duration_s for window in found}) == 4


def test_windows_of_a_short_trace_are_shorter():
    assert [len(window) for window in windows(synthetic_jobs(40), 4, 100)] == [10] * 4


@pytest.mark.parametrize("load", [0.7, 1.1])
def test_jobs_are_brought_to_a_load(load: float):
    jobs = at_load(synthetic_jobs(300), 4, load)
    work = sum(job.gpus * job.duration_s for job in jobs)
    assert work / (32 * jobs[-1].submit_s) == pytest.approx(load)


def test_jobs_that_come_at_once_stay_together():
    jobs = in_order([job for job in synthetic_jobs(100) if job.submit_s == 0.0])
    assert at_load(jobs, 4, 0.7) == jobs
