"""Which variables of the submitter's environment a job inherits."""

import pytest

from tarmac.controller.submit.environment.environment import Environments, inherited
from tarmac.controller.submit.request import JobRequest, SubmitRequest
from tarmac.refusal import Refused
from tarmac.store.environments.environments import StoredEnvironment, pack_environment, whole

OF_ANOTHER_JOB = [
    "SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_CONF", "SLURMD_NODENAME", "SBATCH_PARTITION", "SRUN_DEBUG",
    "SALLOC_ACCOUNT", "PMI_RANK", "PMI_FD", "PMI2_RANK", "PMIX_RANK", "PMIX_SERVER_URI41", "PRTE_MCA_ess",
    "OMPI_COMM_WORLD_RANK", "OMPI_MCA_ess", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "HYDI_CONTROL_FD",
    "MV2_COMM_WORLD_LOCAL_RANK", "PBS_JOBID", "LSB_JOBID", "JSM_NAMESPACE_RANK", "PALS_RANKID", "FLUX_JOB_ID",
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK", "ROLE_RANK", "MASTER_ADDR",
    "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "PET_NNODES", "PET_RDZV_ENDPOINT",
    "HOROVOD_RANK", "JAX_PROCESS_ID", "TF_CONFIG",
]  # fmt: skip
OF_THE_USER = [
    "PATH", "HOME", "SLURM", "MYSLURM_JOB_ID", "slurm_job_id", "RANKING", "MY_RANK", "WORLD_SIZES", "MPI_HOME",
    "MPI_ROOT", "PMIX", "PET_DATA", "FLUX_DEV", "HOROVOD_FUSION_THRESHOLD", "MV2_USE_CUDA", "JAX_PLATFORMS",
    "NCCL_DEBUG", "OMP_NUM_THREADS", "HYDRA_FULL_ERROR", "WANDB_API_KEY",
]  # fmt: skip


@pytest.mark.parametrize("name", OF_ANOTHER_JOB)
def test_variables_of_another_job_are_left_out(name: str) -> None:
    assert inherited({name: "1", "PATH": "/bin"}) == {"PATH": "/bin"}


@pytest.mark.parametrize("name", OF_THE_USER)
def test_variables_of_the_user_are_passed_on(name: str) -> None:
    assert inherited({name: "1"}) == {name: "1"}


def environments(*jobs: JobRequest, array_count: int | None = None, **environment: str) -> Environments:
    submit = SubmitRequest(jobs=list(jobs), cwd="/", environment=environment)
    return Environments(submit, lambda variables: pack_environment(variables, lambda: b"key"), array_count)


def variables(stored: StoredEnvironment) -> dict[str, str]:
    return whole(stored.body, None if stored.secrets is None else stored.secrets.body)


def test_env_sets_what_would_be_left_out_and_overrides_what_is_inherited() -> None:
    found = environments(JobRequest(), RANK="1", LANG="C")
    packed = found.packed[found.hash_of(("RANK=7", "LANG=de=x", "EMPTY="))]
    assert variables(packed) == {"RANK": "7", "LANG": "de=x", "EMPTY": ""}


def test_each_job_of_a_submit_has_its_own_variables() -> None:
    found = environments(JobRequest(), JobRequest(), array_count=2, LANG="C")
    first, second = found.hash_of(("SEED=1",)), found.hash_of(("SEED=2",))
    assert variables(found.packed[first]) == {"LANG": "C", "SEED": "1", "TARMAC_ARRAY_COUNT": "2"}
    assert variables(found.packed[second])["SEED"] == "2"
    assert found.hash_of(("SEED=1",)) == first
    assert len(found.packed) == 2


def test_a_small_environment_has_only_basic_variables_and_those_of_the_job() -> None:
    found = environments(
        JobRequest(), array_count=1, PATH="/bin", LC_ALL="C", HOME="/h", HF_HOME="/x", RANK="1", TZ="UTC"
    )
    small, usual = found.hash_of(("SEED=1",), is_small=True), found.hash_of(("SEED=1",))
    assert variables(found.packed[small]) == {
        "PATH": "/bin", "LC_ALL": "C", "HOME": "/h", "TZ": "UTC", "SEED": "1", "TARMAC_ARRAY_COUNT": "1",
    }  # fmt: skip
    assert variables(found.packed[usual])["HF_HOME"] == "/x"


@pytest.mark.parametrize("text", ["", "NAME", "=value"])
def test_a_malformed_variable_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"submit\.env_malformed"):
        environments(JobRequest()).hash_of((text,))


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "PWD", "TARMAC_JOB_ID", "TARMAC_X"])
def test_what_tarmac_sets_is_refused(name: str) -> None:
    with pytest.raises(Refused, match=r"submit\.env_reserved"):
        environments(JobRequest()).hash_of((f"{name}=0",))
