"""The `start` frame of a job, with its environment: the submitter's, plus the variables Tarmac sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.log_paths import stdout_path
from tarmac.controller.snapshots.paths import checkout_directory, object_file
from tarmac.core.model.part import part_path
from tarmac.nodes.run_origins import packed
from tarmac.shared.end_warning import parse_warning
from tarmac.shared.job_options import AT_START

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tarmac.core.commands import StartJob
    from tarmac.core.model.gpu import BookedGpu
    from tarmac.core.model.job import Job
    from tarmac.shared.frames.to_agent import SnapshotEntry, StartFrame, WarningEntry

# The submitter's own choice of GPUs does not apply to the job.
_GPU_VARIABLES = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
# Meant for Tarmac's own processes, or for the job that submitted this one.
_NOT_INHERITED = (
    "TARMAC_CRASH_AT", "TARMAC_MARK", "TARMAC_ARRAY_ID", "TARMAC_ARRAY_INDEX", "TARMAC_NODE_COUNT", "TARMAC_NODE_RANK",
    "TARMAC_NODES", "TARMAC_NODE_ADDRESSES",
)  # fmt: skip
ARRAY_COUNT = "TARMAC_ARRAY_COUNT"


def job_environment(
    job: Job,
    start: StartJob,
    submitted: dict[str, str],
    *,
    gpu_id_style: str,
    state_folder: Path,
    addresses: Sequence[str] = (),
) -> dict[str, str]:
    """`addresses`: of a job on several nodes, where the nodes of its parts reach each other."""
    environment = {name: value for name, value in submitted.items() if name not in _NOT_INHERITED}
    environment["PWD"] = job.spec.cwd
    for name in _GPU_VARIABLES:
        environment.pop(name, None)
    environment.update(gpu_variables(start.place.gpus, gpu_id_style))
    environment["TARMAC_STATE"] = str(state_folder)
    environment["TARMAC_JOB_ID"] = str(job.id)
    environment["TARMAC_ATTEMPT"] = str(start.attempt)
    environment["TARMAC_RESTART_COUNT"] = str(start.attempt - 1)
    environment["TARMAC_OOM_COUNT"] = str(job.ooms)
    environment["TARMAC_NODE"] = start.place.node
    if start.booking.others:
        for name, value in part_variables(job, start, addresses).items():
            environment.setdefault(name, value)
    if job.spec.snapshot is not None:
        environment["TARMAC_SUBMIT_DIR"] = job.spec.cwd
    environment.update(array_variables(job, environment.pop(ARRAY_COUNT, None)))
    return environment


def array_variables(job: Job, count: str | None) -> dict[str, str]:
    """The job's place in its array. The array's size is stored in the environment of the submit."""
    if job.index is None:
        return {}
    array = job.group or job.spec.rerun_of or job.spec.clone_of  # a copy of an array's job is not part of the array
    known = {"TARMAC_ARRAY_ID": str(array), "TARMAC_ARRAY_INDEX": str(job.index)}
    return known if count is None else known | {ARRAY_COUNT: count}


def part_variables(job: Job, start: StartJob, addresses: Sequence[str]) -> dict[str, str]:
    """What the parts of a job on several nodes need to find each other. What the owner set with --env stays.

    torchrun takes its options from PET_ variables. It sets RANK, WORLD_SIZE and LOCAL_RANK for the processes that it
    starts; where there is one process per node, they are set here, for programs that need no launcher.
    """
    count, processes = len(start.booking.nodes), max(1, job.spec.request.gpus)
    found = {
        "TARMAC_NODE_COUNT": str(count),
        "TARMAC_NODE_RANK": str(start.part),
        "TARMAC_NODES": ",".join(start.booking.nodes),
        "TARMAC_NODE_ADDRESSES": ",".join(addresses),
        "MASTER_ADDR": addresses[0],
        "NODE_RANK": str(start.part),
        "WORLD_SIZE": str(count * processes),
        "PET_NNODES": str(count),
        "PET_NODE_RANK": str(start.part),
        "PET_NPROC_PER_NODE": str(processes),
        "PET_MASTER_ADDR": addresses[0],
    }
    if processes == 1:
        found["RANK"] = str(start.part)
    if start.port is not None:
        found["MASTER_PORT"] = str(start.port)
    return found


def gpu_variables(gpus: Sequence[BookedGpu], gpu_id_style: str) -> dict[str, str]:
    """Indices by default, because some frameworks reject UUIDs. PCI order makes CUDA count as NVML does."""
    indices = ",".join(str(gpu.index) for gpu in gpus)
    is_mig = any(gpu.uuid.startswith("MIG-") for gpu in gpus)  # CUDA addresses instances by UUID only
    is_amd = any(gpu.uuid.startswith("AMD-") for gpu in gpus)
    visible = ",".join(gpu.uuid for gpu in gpus) if is_mig or (gpu_id_style == "uuid" and not is_amd) else indices
    variables = {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": visible,
        "NVIDIA_VISIBLE_DEVICES": visible or "void",
        "TARMAC_GPUS": indices,
    }
    # One of the two is enough; with both, the second would index into what the first left visible.
    if is_amd or not gpus:
        variables["HIP_VISIBLE_DEVICES"] = visible
    if not gpus:
        variables["ROCR_VISIBLE_DEVICES"] = ""
    return variables


def warning_entry(text: str | None) -> WarningEntry | None:
    """The signal that warns a job of its end."""
    if text is None:
        return None
    signal, before_s, main_only = parse_warning(text)
    return {"signal": signal, "before_s": before_s, "main_only": main_only}


def snapshot_entry(job: Job, state_folder: Path) -> SnapshotEntry | None:
    """The code of the job. The paths are of this machine: a node elsewhere needs its own objects and checkouts."""
    snapshot = job.spec.snapshot
    if snapshot is None:
        return None
    return {
        "tree": snapshot.tree,
        "root": snapshot.root,
        "directory": snapshot.directory,
        "links": list(snapshot.links),
        "objects": object_file(state_folder),
        "checkout": checkout_directory(state_folder, job.id),
    }


def start_frame(job: Job, start: StartJob, environment: dict[str, str], state_folder: Path) -> StartFrame:
    stdout = stdout_path(state_folder, job, start.attempt, start.part)
    return {
        "type": "start",
        "job": job.id,
        "attempt": start.attempt,
        "argv": None if job.spec.command is None else list(job.spec.command),
        "shell": job.spec.shell,
        "cwd": job.spec.cwd,
        "umask": job.spec.umask,
        "env": environment,
        "stdout": stdout,
        "stderr": None if job.spec.stderr is None else part_path(job.spec.stderr, start.part),
        "append": job.spec.append or start.attempt > 1,  # keep the output of earlier attempts
        "limit_s": job.spec.time_limit_s,
        "stop_signal": job.spec.signal,
        "grace_s": job.spec.grace_s,
        "warn": warning_entry(job.spec.warn),
        "origin": packed(job, start.place.gpus, stdout),
        "snapshot": snapshot_entry(job, state_folder),
        "options": {option.wire: value for option in AT_START if (value := getattr(job.spec, option.wire)) is not None},
    }
