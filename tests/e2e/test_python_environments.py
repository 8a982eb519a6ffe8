"""`--venv` and `--conda`: jobs run in the environment, and wrong ones are refused with the nearest right one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tarmac.client import Client
from tests.agent.environments.prefixes import make_conda, make_venv
from tests.home import Home

WHERE = 'echo "$(command -v python) ${VIRTUAL_ENV-none} ${CONDA_PREFIX-none} ${FROM_SCRIPT-none} ${OF_STATE-none}"'
SWEPT = WHERE.replace("{", "{{").replace("}", "}}")


@pytest.fixture
def client(shared_home: Home) -> Client:
    return shared_home.client()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A project with a virtual environment, and two conda environments beside it."""
    make_venv(tmp_path / "work" / ".venv")
    make_conda(tmp_path / "conda" / "envs" / "ml", activate={"a.sh": "export FROM_SCRIPT=yes"}, state={"OF_STATE": "1"})
    make_conda(tmp_path / "conda" / "envs" / "other")
    return tmp_path / "work"


def printed(client: Client, job: int) -> list[str]:
    assert client.wait(job)[0].state == "succeeded"
    return b"".join(client.logs(job)).decode().split()


def test_jobs_run_in_the_environment_that_they_name(shared_home: Home, client: Client, work: Path) -> None:
    conda = work.parent / "conda" / "envs" / "ml"
    shell = {"CONDA_ENVS_PATH": str(conda.parent), "CONDA_PREFIX": str(conda.parent / "other"), "CONDA_SHLVL": "1"}
    shell["PATH"] = f"{conda.parent}/other/bin:{os.environ['PATH']}"

    def add(*words: str) -> int:
        done = shared_home.tarmac("add", "-g", "0", *words, "-c", WHERE, cwd=work, env=shell)
        assert done.returncode == 0, done.stderr
        return int(done.stdout.partition("-")[0])

    venv = work / ".venv"
    assert printed(client, add("--venv", ".venv")) == [f"{venv}/bin/python", str(venv), "none", "none", "none"]
    assert printed(client, add("--venv", str(venv), "--no-env", "--array", "2"))[1] == str(venv)
    in_conda = [f"{conda}/bin/python", "none", str(conda), "yes", "1"]
    job = add("--conda", "ml")
    assert printed(client, job) == in_conda
    assert printed(client, add("--conda", "ml", "--no-env")) == in_conda, "it is found by what the shell knows"
    assert printed(client, add("--conda", "../conda/envs/ml")) == in_conda
    assert f"conda      {conda}" in shared_home.tarmac("show", str(job)).stdout
    assert json.loads(shared_home.tarmac("show", str(job), "--json").stdout)[0]["conda"] == str(conda)
    done = shared_home.tarmac("run", "-g", "0", "--conda", "ml", "python", "-c", "print(6*7)", cwd=work, env=shell)
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--venv", ".vnev"], "work/.vnev is not a virtual environment", "did you mean --venv .venv?"),
        (["--venv", "."], "is not a virtual environment", "did you mean --venv .venv?"),
        (["--conda", "mll"], "no conda environment is named mll", "did you mean --conda ml?"),
        (["--conda", "x", "--venv", "y"], "--venv and --conda exclude each other", "leave out one"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest(
    shared_home: Home, work: Path, words: list[str], message: str, hint: str
) -> None:
    shell = {"CONDA_ENVS_PATH": str(work.parent / "conda" / "envs")}
    done = shared_home.tarmac("add", *words, "true", cwd=work, env=shell)
    assert done.returncode == 2
    assert message in done.stderr
    assert hint in done.stderr


def test_the_environment_of_a_waiting_job_can_be_changed(shared_home: Home, client: Client, work: Path) -> None:
    conda = work.parent / "conda" / "envs" / "ml"
    shell = {"CONDA_ENVS_PATH": str(conda.parent)}
    done = shared_home.tarmac("add", "--hold", "-g", "0", "--venv", ".venv", "-c", WHERE, cwd=work, env=shell)
    job = done.stdout.strip()
    refused = shared_home.tarmac("edit", job, "--conda", "mll")
    assert (refused.returncode, "did you mean --conda ml?" in refused.stderr) == (2, True)
    assert shared_home.tarmac("edit", job, "--conda", "ml").returncode == 0
    found = client.job(int(job))
    assert (found.venv, found.conda) == (None, str(conda))
    assert shared_home.tarmac("edit", job, "--venv", ".venv").returncode == 0
    assert (client.job(int(job)).venv, client.job(int(job)).conda) == (str(work / ".venv"), None)
    assert shared_home.tarmac("edit", job, "--venv", "none").returncode == 0
    shared_home.tarmac("release", job)
    assert printed(client, int(job))[1] == "none"


def test_an_environment_that_vanished_before_the_start_is_named(shared_home: Home, client: Client, work: Path) -> None:
    done = shared_home.tarmac("add", "--hold", "-g", "0", "--venv", ".venv", "true", cwd=work)
    (work / ".venv" / "pyvenv.cfg").unlink()
    (work / ".venv" / "bin" / "activate").unlink()
    shared_home.tarmac("release", done.stdout.strip())
    ended = client.wait(int(done.stdout))[0]
    assert (ended.state, ended.reason) == ("failed", "no-interpreter")
    assert client.job(ended.id).message == f"{work}/.venv: not a virtual environment"


@pytest.fixture
def many(shared_home: Home, client: Client, work: Path) -> Callable[..., list[str]]:
    """Queue jobs, and return the environments that they ran in, in the order of their ids."""
    shell = {"CONDA_ENVS_PATH": str(work.parent / "conda" / "envs")}
    make_venv(work / "second")

    def ran(*words: str, cwd: str = ".") -> list[str]:
        verb, *more = words
        done = shared_home.tarmac(verb, "-g", "0", *more, cwd=work / cwd, env=shell)
        assert done.returncode == 0, done.stderr
        first, _, last = done.stdout.strip().partition("-")
        found = [printed(client, job)[1:3] for job in range(int(first), int(last or first) + 1)]
        return [os.path.basename(venv if conda == "none" else conda) for venv, conda in found]

    return ran


def test_sweeps_and_batches_choose_an_environment_for_each_job(
    shared_home: Home, many: Callable[..., list[str]], work: Path
) -> None:
    assert many("sweep", "--venv", "{v}", "-c", SWEPT, "v=.venv,second,") == [".venv", "second", "none"]
    assert many("sweep", "--conda", "{c}", "-c", SWEPT, "c=ml,other") == ["ml", "other"]
    assert many("sweep", "--venv", ".venv", "-c", f"{SWEPT} {{x}}", "x=1,2") == [".venv", ".venv"]
    (work / "sub").mkdir()
    make_venv(work / "sub" / "third")
    lines = [
        {"shell": WHERE, "venv": "second"},
        {"shell": WHERE, "conda": "ml"},
        {"shell": WHERE},
        {"shell": WHERE, "venv": "third", "cwd": "sub"},
    ]
    (work / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert many("add", "--batch", "jobs.jsonl") == ["second", "ml", "none", "third"]
    lines.pop()
    (work / "jobs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert many("add", "--venv", ".venv", "--batch", "jobs.jsonl") == ["second", "ml", ".venv"]
    (work / "bad.csv").write_text("command,venv\ntrue,.venv\ntrue,.vnev\ntrue,secnd\n")
    refused = shared_home.tarmac("add", "--batch", "bad.csv", cwd=work)
    assert refused.returncode == 2
    for place, name in (("bad.csv:3:6", ".vnev"), ("bad.csv:4:6", "secnd")):
        assert f"{place}: {work}/{name} is not a virtual environment; did you mean" in refused.stderr


def test_defaults_name_an_environment(shared_home: Home, many: Callable[..., list[str]], work: Path) -> None:
    (work / "sub").mkdir()
    (work / ".tarmac.toml").write_text('[defaults]\nvenv = ".venv"\n')
    assert many("add", "-c", WHERE) == [".venv"]
    assert many("add", "-c", WHERE, cwd="sub") == [".venv"], "the path is relative to the file"
    assert many("add", "--venv", "second", "-c", WHERE) == ["second"]
    assert many("add", "--conda", "ml", "-c", WHERE) == ["ml"], "the command line drops the default"
    assert many("add", "--venv", "none", "-c", WHERE) == ["none"]
    assert many("sweep", "-c", f"{SWEPT} {{x}}", "x=1,2") == [".venv", ".venv"]
    (work / ".tarmac.toml").write_text('[defaults]\nconda = "../conda/envs/other"\n')
    assert many("add", "-c", WHERE, cwd="sub") == ["other"]
    assert many("add", "--venv", "../second", "-c", WHERE, cwd="sub") == ["second"]
    (work / ".tarmac.toml").write_text('[defaults]\nconda = "ml"\n')
    (work / "jobs.jsonl").write_text(json.dumps({"shell": WHERE, "venv": "second"}) + "\n")
    assert many("add", "--batch", "jobs.jsonl") == ["second"]
    assert many("add", "-c", WHERE) == ["ml"]
    job = shared_home.client().job("last").id
    assert shared_home.tarmac("template", "save", f"ml{job}", str(job)).returncode == 0
    (work / ".tarmac.toml").unlink()
    options = shared_home.client().call("GET", f"/jobs/{job}/options")  # as an editor shows them
    assert options["conda"] == str(work.parent / "conda" / "envs" / "ml")
    assert many("add", "--template", f"ml{job}", "-c", WHERE) == ["ml"]
