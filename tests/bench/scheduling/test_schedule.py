from bench.scheduling.reference.cluster import Job
from bench.scheduling.reference.fifo import Fifo
from bench.scheduling.schedule import by_core, by_reference
from tarmac.core.model.rules import Rules


def a_job(number: int, submit_s: float, gpus: int, duration_s: float) -> Job:
    return Job(number=number, submit_s=submit_s, owner="ann", gpus=gpus, duration_s=duration_s, limit_s=duration_s)


# The second job waits for the first, the third for the second.
JOBS = [a_job(0, 0.0, 8, 10.0), a_job(1, 0.0, 4, 10.0), a_job(2, 20.0, 8, 10.0)]


def test_waits_and_utilization_until_the_last_submit():
    schedule = by_reference(JOBS, 1, Fifo)
    assert schedule.waits_s() == [0.0, 10.0, 0.0]
    assert schedule.mean_wait_s == 10 / 3
    assert schedule.utilization == (8 * 10 + 4 * 10) / (8 * 20)
    assert schedule.in_use(10.0, 30.0) == (4 * 10 + 8 * 10) / (8 * 20)


def test_the_core_gives_the_same_figures():
    schedule = by_core(JOBS, 1, Rules(policy="fifo"), has_limits=False)
    assert schedule.starts == by_reference(JOBS, 1, Fifo).starts
