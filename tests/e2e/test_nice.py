"""`nice` from every interface applies to the process of the job."""

import json

import pytest

from tarmac.client import Client
from tarmac.errors import UserError
from tests.home import Home


@pytest.fixture
def client(shared_home: Home) -> Client:
    return shared_home.client()


def printed(client: Client, job: int) -> str:
    """The niceness that the job prints."""
    assert client.wait(job)[0].state == "succeeded"
    return b"".join(client.logs(job)).decode().strip()


def test_nice_from_the_command_line(shared_home: Home, client: Client) -> None:
    job = shared_home.add("-g", "0", "--nice", "7", "nice")
    assert printed(client, job) == "7"
    assert "  nice       7\n" in shared_home.tarmac("show", str(job)).stdout
    assert json.loads(shared_home.tarmac("show", str(job), "--json").stdout)[0]["nice"] == 7
    assert shared_home.tarmac("run", "-g", "0", "--nice", "19", "nice").stdout == "19\n"


def test_nice_from_python(client: Client) -> None:
    job = client.submit(["nice"], gpus=0, nice=5)
    assert job.nice == 5
    assert printed(client, job.id) == "5"


def test_nice_from_the_http_api(client: Client) -> None:
    body = {"jobs": [{"command": ["nice"], "gpus": 0, "nice": 3}], "cwd": "/", "environment": {"PATH": "/usr/bin:/bin"}}
    assert printed(client, client.call("POST", "/jobs", body=body)["ids"][0]) == "3"


def test_a_job_keeps_the_priority_of_the_agent_unless_asked(shared_home: Home, client: Client) -> None:
    job = shared_home.add("-g", "0", "nice")
    assert printed(client, job) == "0"
    assert "nice" not in [line.split()[0] for line in shared_home.tarmac("show", str(job)).stdout.splitlines()]


def test_a_waiting_job_can_be_edited(shared_home: Home, client: Client) -> None:
    job = shared_home.add("-g", "0", "--hold", "nice")
    assert shared_home.tarmac("edit", str(job), "--nice", "4").returncode == 0
    client.release(job)
    assert printed(client, job) == "4"


@pytest.mark.parametrize("nice", [-1, 20])
def test_out_of_range_is_refused(client: Client, nice: int) -> None:
    with pytest.raises(UserError, match=r"nice \(--nice\) must be a whole number from 0 to 19"):
        client.submit(["nice"], nice=nice)
