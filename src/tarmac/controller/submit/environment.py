"""The environment of submitted jobs: the submitter's, without what describes another job, plus what `--env` sets.

A shell inside a Slurm allocation, an `mpirun` or a `torchrun` has variables that say which part of a distributed
program runs in it. A job that inherits them takes itself for that part: Lightning requeues itself under Slurm, and
`init_process_group` waits for ranks that do not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.controller.start_frame import ARRAY_COUNT
from tarmac.refusal import invalid
from tarmac.store.rows import pack_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.controller.submit.request import SubmitRequest

# Of batch systems and MPI launchers.
_PREFIXES = (
    "SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "PBS_", "LSB_", "JSM_", "COBALT_", "PALS_", "ALPS_",
    "PMI_", "PMI2_", "PMIX_", "PRTE_", "OMPI_", "HYDI_", "MPI_LOCAL", "MV2_COMM_WORLD_",
    "TORCHELASTIC_", "PET_RDZV_",
)  # fmt: skip
_NAMES = frozenset(
    (
        "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "GROUP_WORLD_SIZE",
        "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
        "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE",
        "PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_STANDALONE",
        "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE", "HOROVOD_CROSS_RANK",
        "HOROVOD_CROSS_SIZE",
        "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_PORT", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "TF_CONFIG",
        "FLUX_JOB_ID", "FLUX_JOB_SIZE", "FLUX_JOB_NNODES", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_URI",
        "PE_HOSTFILE", "SGE_TASK_ID",
    )
)  # fmt: skip
# Tarmac sets these itself, and its promises rest on them.
_SET_BY_TARMAC = frozenset(
    (
        "PWD", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
    )
)  # fmt: skip


def is_of_another_job(name: str) -> bool:
    """The variable tells a process its place in a job of another system, or in a distributed program."""
    return name in _NAMES or name.startswith(_PREFIXES)


def inherited(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not is_of_another_job(name)}


class Environments:
    """The environments of one submit. Jobs with equal environments share one."""

    def __init__(self, submit: SubmitRequest) -> None:
        self.packed: dict[str, bytes] = {}  # by hash
        self._base = inherited(submit.environment)
        if submit.array:
            self._base[ARRAY_COUNT] = str(len(submit.jobs))
        self._hashes: dict[tuple[str, ...], str] = {}

    def hash_of(self, given: tuple[str, ...]) -> str:
        """Of the environment of a job with these `NAME=VALUE` of its own."""
        known = self._hashes.get(given)
        if known is None:
            known, body = pack_environment(self._base | _variables(given))
            self._hashes[given] = known
            self.packed[known] = body
        return known


def _variables(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise invalid("submit.env_malformed", text=text)
        if name in _SET_BY_TARMAC or name.startswith("TARMAC_"):
            raise invalid("submit.env_reserved", name=name)
        found[name] = value
    return found
