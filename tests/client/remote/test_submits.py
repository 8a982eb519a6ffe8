from typing import Any

import pytest

from tarmac.client.remote.submits import at_home, settle
from tarmac.errors import UserError

ABOUT = {"home": "/home/alice", "umask": 0o027, "environment": {"PATH": "/usr/bin"}}


def body(**job: Any) -> dict[str, Any]:
    return {"cwd": "/Users/a", "umask": 0o022, "environment": {"LAPTOP": "1"}, "jobs": [{"cwd": "/Users/a", **job}]}


def test_the_environment_and_the_umask_are_those_of_the_account() -> None:
    made = body()
    settle(made, ABOUT, None, None)
    assert (made["environment"], made["umask"]) == ({"PATH": "/usr/bin"}, 0o027)
    made = body()
    settle(made, ABOUT, {"LAPTOP": "1"}, 0o022)
    assert (made["environment"], made["umask"]) == ({"LAPTOP": "1"}, 0o022)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("/Users/a/~", "/home/alice"),
        ("/Users/a/~/project", "/home/alice/project"),
        ("/Users/a/~/project/~/x.log", "/home/alice/x.log"),
        ("/data/x~", "/data/x~"),
        ("/Users/a/~bob", "/Users/a/~bob"),
        ("~/venv", "/home/alice/venv"),
        ("~", "/home/alice"),
        ("venv", "venv"),
    ],
)
def test_a_tilde_is_the_home_directory_there(given: str, meant: str) -> None:
    made = body(cwd=given, venv=given)
    settle(made, ABOUT, None, None)
    assert made["jobs"][0] == {"cwd": meant, "venv": meant}


def test_a_job_with_a_snapshot_starts_from_the_home_directory() -> None:
    made = body(snapshot=0, log="/Users/a/logs/x.log", stderr="/data/err.log")
    assert at_home(made, "/home/alice")["jobs"] == [
        {"cwd": "/home/alice", "snapshot": 0, "log": "/home/alice/logs/x.log", "stderr": "/data/err.log"}
    ]
    assert made["jobs"][0]["cwd"] == "/Users/a"  # the next try takes the snapshot from there
    made = body(snapshot=False)
    assert at_home(made, "/home/alice") == made


def test_links_to_files_of_this_machine_are_refused() -> None:
    with pytest.raises(UserError):
        settle(body(snapshot=True, link=["data"]), ABOUT, None, None)
