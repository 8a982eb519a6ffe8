"""What a job finds in its environment: not the variables of another job, and what `--env` sets."""

import json

import pytest

from tarmac.client import Client
from tests.home import Home

FOREIGN = {
    "SLURM_JOB_ID": "99", "SLURM_NTASKS": "8", "SBATCH_PARTITION": "gpu", "PMI_RANK": "1", "PMIX_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "8", "RANK": "3", "LOCAL_RANK": "3", "WORLD_SIZE": "8", "MASTER_ADDR": "elsewhere",
}  # fmt: skip


@pytest.fixture
def client(shared_home: Home) -> Client:
    return shared_home.client()


def variables(client: Client, job: int) -> dict[str, str]:
    """What the job printed with `env -0`."""
    assert client.wait(job)[0].state == "succeeded"
    pairs = b"".join(client.logs(job)).decode().split("\0")[:-1]
    return dict(pair.split("=", 1) for pair in pairs)


def test_variables_of_another_job_are_not_passed_on(shared_home: Home, client: Client) -> None:
    done = shared_home.tarmac("add", "-g", "0", "--", "env", "-0", env={**FOREIGN, "MASTER_PORT": "1", "MINE": "yes"})
    found = variables(client, int(done.stdout))
    assert not FOREIGN.keys() & found.keys()
    assert found["MINE"] == "yes"
    assert found["MASTER_PORT"] != "1"
    done = shared_home.tarmac("run", "-g", "0", "--", "env", env=FOREIGN)
    assert not [line for line in done.stdout.splitlines() if line.partition("=")[0] in FOREIGN]


def test_python_and_the_http_api_do_not_pass_them_on_either(client: Client) -> None:
    environment = {"PATH": "/usr/bin:/bin", **FOREIGN}
    job = client.submit(["env", "-0"], gpus=0, environment=environment, env=["RANK=5"])
    assert variables(client, job.id).items() & FOREIGN.items() == set()
    assert variables(client, job.id)["RANK"] == "5"
    body = {"jobs": [{"command": ["env", "-0"], "gpus": 0}], "cwd": "/", "environment": environment}
    assert not FOREIGN.keys() & variables(client, client.call("POST", "/jobs", body=body)["ids"][0]).keys()


def test_env_sets_variables_nevertheless(shared_home: Home, client: Client) -> None:
    given = ["--env", "SLURM_JOB_ID=7", "--env", "RANK", "--env", "MASTER_PORT=1234", "--env", "EMPTY="]
    done = shared_home.tarmac("add", "-g", "0", *given, "--", "env", "-0", env=FOREIGN)
    found = variables(client, int(done.stdout))
    assert {"SLURM_JOB_ID": "7", "RANK": "3", "MASTER_PORT": "1234", "EMPTY": ""}.items() <= found.items()
    assert "WORLD_SIZE" not in found


def test_env_is_the_same_in_every_copy_of_an_array(shared_home: Home, client: Client) -> None:
    first = int(shared_home.tarmac("add", "-g", "0", "--array", "2", "--env", "A=b", "env", "-0").stdout.split("-")[0])
    for index in range(2):
        found = variables(client, first + index)
        assert (found["A"], found["TARMAC_ARRAY_COUNT"], found["TARMAC_ARRAY_INDEX"]) == ("b", "2", str(index))


def test_variables_come_from_files_and_from_nowhere_else(shared_home: Home, client: Client) -> None:
    (shared_home.path / "one.env").write_text("# test\nexport MODE='a b'\nSHARED=one\nGIVEN=file\nCOPIED\n")
    (shared_home.path / "two.env").write_text('SHARED="two\nlines"\n')
    files = [word for name in ("one", "two") for word in ("--env-file", str(shared_home.path / f"{name}.env"))]
    shell = {"COPIED": "copied", "OTHER": "other", "LC_TIME": "C"}
    words = ["--no-env", "--env", "GIVEN=flag", *files, "--", "env", "-0"]
    found = variables(client, int(shared_home.tarmac("add", "-g", "0", *words, env=shell).stdout))
    wanted = {"MODE": "a b", "SHARED": "two\nlines", "GIVEN": "flag", "COPIED": "copied", "LC_TIME": "C"}
    assert wanted.items() <= found.items()
    assert "PATH" in found
    assert "OTHER" not in found
    job = client.submit(["env", "-0"], gpus=0, no_env=True, environment={"OTHER": "x", "PATH": "/usr/bin:/bin"})
    assert "OTHER" not in variables(client, job.id)


def test_a_mistake_in_a_file_names_file_and_line_but_no_value(shared_home: Home) -> None:
    file = shared_home.path / "wrong.env"
    file.write_text("A=1\nB='s3cret\n")
    done = shared_home.tarmac("add", "--env-file", str(file), "true")
    assert done.returncode == 2
    assert f"--env-file {file}: line 2: the quote ' is not closed" in done.stderr
    assert "s3cret" not in done.stderr
    assert "s3cret" not in shared_home.tarmac("add", "--env", "=s3cret", "true").stderr
    refused = shared_home.tarmac("add", "--env", b"TOKEN=s3cret\xff", "true")
    assert (refused.returncode, "s3cret" in refused.stderr) == (2, False)


def test_values_are_not_shown(shared_home: Home) -> None:
    job = shared_home.add("-g", "0", "--env", "KEY=s3cret", "true")
    assert "s3cret" not in shared_home.tarmac("show", str(job), "--json").stdout
    assert "s3cret" not in shared_home.tarmac("show", str(job)).stdout


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("=x", "NAME=VALUE"),
        ("CERTAINLY_NOT_SET", "is not set here"),
        ("CUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES cannot be set, because Tarmac sets it"),
        ("TARMAC_JOB_ID=0", "TARMAC_JOB_ID cannot be set"),
    ],
)
def test_bad_variables_are_refused(shared_home: Home, word: str, message: str) -> None:
    done = shared_home.tarmac("add", "--env", word, "true")
    assert done.returncode == 2
    assert message in done.stderr


def test_placeholders_are_filled_in_at_the_start(shared_home: Home, client: Client) -> None:
    job = shared_home.add("-g", "2", "--fill", "--", "echo", "{gpus}", "{gpu_count}", "{job_id}", "{{x}}", "{port}")
    assert client.wait(job)[0].state == "succeeded"
    gpus, count, number, literal, port = b"".join(client.logs(job)).decode().split()
    assert (gpus, count, number, literal) == ("0,1", "2", str(job), "{x}")
    assert int(port) > 1024
    assert "filled in at the start" in shared_home.tarmac("show", str(job)).stdout
    shell = client.submit("echo {gpus}-{port}-$MASTER_PORT ${{HOME+set}}", gpus=1, fill=True)
    client.wait(shell.id)
    gpu, port, master_port = b"".join(client.logs(shell.id)).decode().split()[0].split("-")
    assert gpu in {"0", "1"}
    assert port == master_port
    assert b"".join(client.logs(shell.id)).decode().split()[1] == "set"


def test_without_fill_nothing_is_filled_in(shared_home: Home, client: Client) -> None:
    job = shared_home.add("-g", "0", "--", "echo", "{gpus}", "{other}", "{{")
    client.wait(job)
    assert b"".join(client.logs(job)) == b"{gpus} {other} {{\n"


def test_no_two_running_jobs_have_the_same_port(shared_home: Home, client: Client) -> None:
    client.submit_many([{"shell": "echo {port}; sleep 30", "gpus": 0, "fill": True, "name": "ports"} for _ in range(5)])
    jobs = list(client.jobs(name="ports"))
    ports = set()
    for job in jobs:
        ports.add(next(client.logs(job.id, follow=True)))
    client.kill(*jobs, grace_s=0)
    client.wait(jobs)
    assert len(ports) == 5


@pytest.mark.parametrize(
    ("word", "message"),
    [("{gpu}", "unknown placeholder {gpu}"), ("{GPUS}", "unknown placeholder"), ("{gpus", "single brace")],
)
def test_bad_placeholders_are_refused_at_the_submit(shared_home: Home, word: str, message: str) -> None:
    done = shared_home.tarmac("add", "--fill", "--", "echo", word)
    assert done.returncode == 2
    assert message in done.stderr
    done = shared_home.tarmac("add", "--fill", "-c", f"echo {word}", "--json")
    assert done.returncode == 2


def test_the_record_says_that_placeholders_are_filled_in(shared_home: Home) -> None:
    job = shared_home.add("-g", "0", "--fill", "--", "true", "{job_id}")
    assert json.loads(shared_home.tarmac("show", str(job), "--json").stdout)[0]["fill"] is True
