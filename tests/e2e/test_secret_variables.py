"""Secrets in the environment of a job: the job gets them, and nobody else does."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path

import pytest

from tarmac.client import Client
from tarmac.errors import TarmacError
from tests.home import Home

PLANTED = "pl4nted-v4lue-of-a-secret"
VARIABLES = {"HF_TOKEN": PLANTED, "DATABASE": f"postgres://ann:{PLANTED}@db/x", "PLAIN": "in plain sight"}
HASH = hashlib.sha256(PLANTED.encode()).hexdigest()
SEEN_BY_THE_JOB = 'printf %s "$HF_TOKEN" | sha256sum'


@pytest.fixture
def client(shared_home: Home) -> Client:
    return shared_home.client()


def files_with(home: Home, text: str) -> list[Path]:
    """In the database, its WAL, the logs of Tarmac and of jobs, and all records of agents and shims."""
    files = [path for path in home.path.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if text.encode() in path.read_bytes()]


def test_only_the_job_sees_a_secret(shared_home: Home, client: Client) -> None:
    words = ["--env", "WANDB_API_KEY=" + PLANTED, "-c", SEEN_BY_THE_JOB]
    job = int(shared_home.tarmac("add", "-g", "0", *words, env=VARIABLES).stdout)
    array = shared_home.tarmac("add", "-g", "0", "--array", "2", "-c", SEEN_BY_THE_JOB, env=VARIABLES).stdout.strip()
    failed = int(shared_home.tarmac("add", "-g", "0", "--", "certainly-no-command", env=VARIABLES).stdout)
    assert client.wait(job)[0].state == "succeeded"
    assert b"".join(client.logs(job)).decode().split()[0] == HASH
    assert client.wait(failed)[0].state == "failed"
    client.wait(int(array.partition("-")[2]))
    printed = [
        shared_home.tarmac(*command).stdout
        for one in (str(job), str(failed), array)
        for command in (
            ("show", one), ("show", one, "--json"), ("show", one, "--env"), ("show", one, "--env", "--json"),
            ("ls", "-a", "--json"), ("history", "--json"), ("log", one.partition("-")[0]),
            ("export", "-", one, "--with-environment", "--with-logs"),
        )
    ]  # fmt: skip
    assert not [text for text in printed if PLANTED in text]
    assert "PLAIN=in plain sight" in printed[2]
    assert "HF_TOKEN=***\n" in printed[2]
    assert "WANDB_API_KEY=***\n" in printed[2]
    shown = {one["name"]: one for one in json.loads(printed[3])[0]["variables"]}
    assert shown["DATABASE"] == {"name": "DATABASE", "value": None, "is_secret": True}
    assert shown["PLAIN"] == {"name": "PLAIN", "value": "in plain sight", "is_secret": False}
    assert client.environment(job) == list(shown.values())
    for path in (f"/jobs/{job}", f"/jobs/{job}/environment", f"/jobs/{job}/events", "/jobs"):
        assert PLANTED not in json.dumps(client.call("GET", path))
    assert {path.parent.name for path in files_with(shared_home, PLANTED)} == {"secrets"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files_with(shared_home, PLANTED)} == {0o600}
    shared_home.tarmac("rm", str(job), str(failed), array)
    assert files_with(shared_home, PLANTED) == []


def test_a_job_never_starts_without_its_secrets(shared_home: Home, client: Client) -> None:
    """As after a restore of the database alone."""
    job = int(shared_home.tarmac("add", "--hold", "-g", "0", "true", env={"API_KEY": PLANTED + "-2"}).stdout)
    for path in files_with(shared_home, PLANTED + "-2"):
        path.unlink()
    shared_home.tarmac("release", str(job))
    ended = client.wait(job)[0]
    assert (ended.state, ended.attempt, ended.exit_code) == ("failed", 1, None)
    text = shared_home.tarmac("show", str(job)).stdout
    assert "the values of secret variables are missing: API_KEY" in text
    assert f"`tarmac rerun {job} --env NAME`" in " ".join(text.split())
    words = ["rerun", str(job), "--env", "API_KEY", "-c", 'test "$API_KEY" = new']
    again = shared_home.tarmac(*words, env={"API_KEY": "new"})
    assert client.wait(int(again.stdout))[0].state == "succeeded", again.stderr
    refused = shared_home.tarmac("rerun", str(job), "--env", "OTHER=1")
    assert (refused.returncode, "missing: API_KEY" in refused.stderr) == (2, True)
    with pytest.raises(TarmacError, match="777777"):
        client.environment(777777)
