import os
import signal
import subprocess
import sys

import pytest

from tarmac.agent.gpus.gpu_processes import ProcessTable
from tarmac.agent.gpus.sources.fake import FakeSource, fake_gpus
from tarmac.agent.gpus.sources.fake_load import BusyJob, add_load
from tests.home import Home, until


def busy(runs_s: float, gpus: list[int], job: str = "7") -> BusyJob:
    return BusyJob(os.getpid(), job, gpus, runs_s)


def loaded(*jobs: BusyJob, count: int = 2):
    return add_load(fake_gpus(str(count)), list(jobs), ProcessTable())


def test_a_gpu_without_a_job_is_cold_and_empty():
    (gpu,) = loaded(count=1)
    assert (gpu["memory_used_bytes"], gpu["utilization"], gpu["processes"]) == (0, 0, [])


def test_memory_grows_and_belongs_to_the_process_of_the_job():
    early, late = (loaded(busy(runs_s, [1]))[1] for runs_s in (1.0, 60.0))
    assert 0 < early["memory_used_bytes"] < late["memory_used_bytes"] < late["memory_total_bytes"]
    assert [(one["pid"], one["memory_bytes"]) for one in late["processes"]] == [
        (os.getpid(), late["memory_used_bytes"])
    ]
    assert late["temperature"] > loaded()[0]["temperature"]


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_jobs_that_share_a_gpu_fit_on_it(count: int):
    gpu = loaded(*(busy(1000.0, [0], str(number)) for number in range(count)))[0]
    assert gpu["memory_used_bytes"] <= gpu["memory_total_bytes"]
    assert 0 < gpu["utilization"] <= 100
    assert len(gpu["processes"]) == count


def test_only_jobs_of_this_home_load_it(tmp_path):
    variables = {**os.environ, "TARMAC_HOME": str(tmp_path), "TARMAC_JOB_ID": "7", "TARMAC_GPUS": "1"}
    command = [sys.executable, "-c", "print(flush=True); input()"]
    job = subprocess.Popen(
        command, env=variables, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        job.stdout.readline()
        mine = FakeSource("2", loaded_by=str(tmp_path)).read().gpus
        others = FakeSource("2", loaded_by="/elsewhere").read().gpus
    finally:
        job.send_signal(signal.SIGKILL)
        job.communicate()
    assert [[one["pid"] for one in gpu["processes"]] for gpu in mine] == [[], [job.pid]]
    assert not any(gpu["processes"] for gpu in others)


def test_the_load_of_a_job_is_not_foreign(home: Home):
    home.environment["TARMAC_FAKE_LOAD"] = "1"
    job = home.add("sleep", "600")
    client = home.client()
    assert until(lambda: client.gpus()[0].utilization, 30)
    (process,) = client.gpus()[0].processes
    assert process["job"] == job
    assert client.gpus()[0].held is None
