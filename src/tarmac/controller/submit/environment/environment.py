"""The environment of submitted jobs: the submitter's, without what describes another job, plus what `--env` sets.

A shell inside a Slurm allocation, an `mpirun` or a `torchrun` has variables that say which part of a distributed
program runs in it. A job that inherits them takes itself for that part: Lightning requeues itself under Slurm, and
`init_process_group` waits for ranks that do not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tarmac.controller.start_frame import ARRAY_COUNT
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tarmac.controller.submit.request import SubmitRequest
    from tarmac.store.environments.environments import PackedEnvironment, StoredEnvironment

    Pack: TypeAlias = Callable[[dict[str, str]], PackedEnvironment]

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
# All that `--no-env` passes on: what programs need to find themselves, their user and their language.
_BASIC = frozenset(("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"))
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


def refuse_bad_inherited(environment: Mapping[str, str]) -> None:
    """Other names than those of `--env` are usual here, such as those of the functions of bash."""
    if any(not name or "=" in name for name in environment):
        raise invalid("submit.environment_bad_name")


def is_basic(name: str) -> bool:
    return name in _BASIC or name.startswith("LC_")


class Environments:
    """The environments of one submit. Jobs with equal environments share one."""

    def __init__(self, submit: SubmitRequest, pack: Pack, array_count: int | None = None) -> None:
        self.packed: dict[str, StoredEnvironment] = {}  # by hash
        self._pack = pack
        self._base = inherited(submit.environment)
        if array_count is not None:
            self._base[ARRAY_COUNT] = str(array_count)
        self._hashes: dict[tuple[tuple[str, ...], bool], str] = {}

    def hash_of(self, given: tuple[str, ...], *, is_small: bool = False) -> str:
        """The hash of a job's environment with these `NAME=VALUE` added. `is_small`: to basic variables only."""
        known = self._hashes.get((given, is_small))
        if known is None:
            base = self._base
            if is_small:
                base = {name: value for name, value in base.items() if is_basic(name) or name == ARRAY_COUNT}
            known, stored = self._pack(base | variables_of(given))
            self._hashes[given, is_small] = known
            self.packed[known] = stored
        return known


def variables_of(given: tuple[str, ...]) -> dict[str, str]:
    """The variables of `NAME=VALUE` texts. Refuses those that Tarmac sets itself."""
    found = {}
    for number, text in enumerate(given):
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise invalid("submit.env_malformed", number=number)  # its text may be a secret
        if not (name.isidentifier() and name.isascii()):
            raise invalid("submit.env_bad_name", number=number)
        if name in _SET_BY_TARMAC or name.startswith("TARMAC_"):
            raise invalid("submit.env_reserved", name=name)
        found[name] = value
    return found
