from pathlib import Path

import pytest

from tarmac.controller.start_frame import job_environment, start_frame
from tarmac.core.commands import StartJob
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.core.model.status import Booking


def environment_of(
    *indices: int,
    submitted: dict[str, str] | None = None,
    style: str = "index",
    make: str = "GPU",
    group: int | None = None,
    index: int | None = None,
) -> dict[str, str]:
    spec = JobSpec(
        owner="ann",
        command=("true",),
        shell=None,
        cwd="/data",
        umask=0o022,
        environment="",
        request=Request(gpus=len(indices)),
    )
    job = Job(id=JobId(7), spec=spec, submitted_at=0.0, position=7, attempt=2, index=index)
    job.group = None if group is None else JobId(group)
    gpus = tuple(BookedGpu(uuid=GpuUuid(f"{make}-{index}"), index=index) for index in indices)
    start = StartJob(job=job.id, attempt=2, booking=Booking(node=NodeName("desk"), gpus=gpus))
    return job_environment(job, start, submitted or {}, gpu_id_style=style, state_folder=Path("/state"))


def test_the_job_sees_its_gpus_by_index_in_pci_order() -> None:
    environment = environment_of(1, 3)
    assert environment["CUDA_VISIBLE_DEVICES"] == "1,3"
    assert environment["NVIDIA_VISIBLE_DEVICES"] == "1,3"
    assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert environment["TARMAC_GPUS"] == "1,3"


def test_the_job_sees_its_gpus_by_uuid_if_configured() -> None:
    environment = environment_of(1, style="uuid")
    assert environment["CUDA_VISIBLE_DEVICES"] == environment["NVIDIA_VISIBLE_DEVICES"] == "GPU-1"
    assert environment["TARMAC_GPUS"] == "1"


def test_a_job_without_gpus_sees_none_even_if_the_submitter_did() -> None:
    environment = environment_of(submitted={"CUDA_VISIBLE_DEVICES": "0", "NVIDIA_VISIBLE_DEVICES": "all"})
    assert environment["CUDA_VISIBLE_DEVICES"] == ""
    assert environment["NVIDIA_VISIBLE_DEVICES"] == "void"


def test_a_job_knows_its_id_attempt_and_node() -> None:
    environment = environment_of(0, submitted={"PWD": "/home", "TARMAC_JOB_ID": "3", "VIRTUAL_ENV": "/venv"})
    assert environment["TARMAC_JOB_ID"] == "7"
    assert environment["TARMAC_ATTEMPT"] == "2"
    assert environment["TARMAC_NODE"] == "desk"
    assert environment["TARMAC_STATE"] == "/state"
    assert environment["PWD"] == "/data"
    assert environment["VIRTUAL_ENV"] == "/venv"


@pytest.mark.parametrize("name", ["TARMAC_CRASH_AT", "TARMAC_MARK"])
def test_variables_for_tarmac_itself_do_not_reach_the_job(name: str) -> None:
    assert name not in environment_of(0, submitted={name: "x"})


def test_mig_instances_are_always_given_by_uuid() -> None:
    environment = environment_of(0, 1, make="MIG")
    assert environment["CUDA_VISIBLE_DEVICES"] == "MIG-0,MIG-1"
    assert environment["TARMAC_GPUS"] == "0,1"


def test_amd_gpus_are_given_to_hip_only() -> None:
    environment = environment_of(1, 3, make="AMD", style="uuid", submitted={"ROCR_VISIBLE_DEVICES": "0"})
    assert environment["HIP_VISIBLE_DEVICES"] == "1,3"
    assert "ROCR_VISIBLE_DEVICES" not in environment


def test_a_job_without_gpus_sees_no_amd_gpu_either() -> None:
    environment = environment_of(submitted={"HIP_VISIBLE_DEVICES": "0"})
    assert (environment["HIP_VISIBLE_DEVICES"], environment["ROCR_VISIBLE_DEVICES"]) == ("", "")


@pytest.mark.parametrize("limit_s", [None, 3600.0])
def test_the_start_frame_carries_the_time_limit_and_how_to_stop(limit_s: float | None) -> None:
    spec = JobSpec(
        owner="ann",
        command=("true",),
        shell=None,
        cwd="/data",
        umask=0o022,
        environment="",
        request=Request(),
        time_limit_s=limit_s,
        signal=10,
        grace_s=120.0,
    )
    job = Job(id=JobId(7), spec=spec, submitted_at=0.0, position=7, attempt=2)
    start = StartJob(job=job.id, attempt=2, booking=Booking(node=NodeName("desk"), gpus=()))
    frame = start_frame(job, start, {}, Path("/state"))
    assert (frame["limit_s"], frame["stop_signal"], frame["grace_s"]) == (limit_s, 10, 120.0)


def test_a_job_of_an_array_knows_its_index_and_the_size() -> None:
    inherited = {"TARMAC_ARRAY_ID": "3", "TARMAC_ARRAY_INDEX": "9", "TARMAC_ARRAY_COUNT": "20"}
    environment = environment_of(0, submitted=inherited, group=5, index=2)
    told = {name: value for name, value in environment.items() if name.startswith("TARMAC_ARRAY_")}
    assert told == {"TARMAC_ARRAY_ID": "5", "TARMAC_ARRAY_INDEX": "2", "TARMAC_ARRAY_COUNT": "20"}


def test_a_job_submitted_from_within_an_array_is_not_part_of_it() -> None:
    inherited = {"TARMAC_ARRAY_ID": "3", "TARMAC_ARRAY_INDEX": "9", "TARMAC_ARRAY_COUNT": "20"}
    assert not any(name.startswith("TARMAC_ARRAY_") for name in environment_of(0, submitted=inherited))
