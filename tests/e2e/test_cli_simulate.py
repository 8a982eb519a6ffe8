"""`tarmac simulate --from-history` on jobs that really ran."""

import json
from typing import Any

import pytest

from tarmac.cli.verbs.admin.simulate.past import History, history
from tests.home import Home, until


@pytest.fixture
def busy_home(home: Home) -> Home:
    """Its jobs succeeded, failed, reached their limit, were killed and waited for another job."""
    home.tarmac("run", "-n", "short", "true")
    home.tarmac("run", "-c", "exit 3")
    home.tarmac("run", "--time", "1s", "sleep", "600")
    killed = home.add("--name", "killed", "sleep", "600")
    assert until(lambda: "running" in home.tarmac("ls", str(killed)).stdout)
    home.tarmac("kill", str(killed))
    home.tarmac("wait", str(killed))
    first = home.add("-g", "0", "-c", "sleep 0.2")
    home.tarmac("wait", str(home.add("--after", str(first), "true")))
    return home


def simulated(home: Home, *words: str) -> list[dict[str, Any]]:
    ended = home.tarmac("simulate", "--from-history", "--policy", "balance", "--json", *words)
    assert ended.returncode == 0, ended.stderr
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


def test_jobs_of_the_past_end_as_they_did(busy_home: Home):
    as_given, none = simulated(busy_home, "--limits", "as-given,none")
    assert (as_given["wait"]["jobs"], as_given["timeouts"], as_given["unstarted"]) == (6, 1, 0)
    assert (none["wait"]["jobs"], none["timeouts"]) == (6, 0)
    found: History = history(busy_home.client())
    assert [job.ending for job in found.trace] == [
        "succeeded", "failed", "failed", "cancelled", "succeeded", "succeeded",
    ]  # fmt: skip
    assert [job.name for job in found.trace] == ["short", None, None, "killed", None, None]
    assert found.trace[2].command == ("sleep", "600")
    assert found.trace[2].is_cut_short
    assert found.trace[5].submit_s >= found.trace[4].submit_s + found.trace[4].duration_s
    assert not found.past


def test_earlier_jobs_are_remembered_and_not_simulated(busy_home: Home):
    (last_hour,) = simulated(busy_home, "--last", "1h")
    assert last_hour["wait"]["jobs"] == 6
    ended = busy_home.tarmac("simulate", "--from-history", "--last", "0.001s")
    assert (ended.returncode, "no job that has ended was submitted" in ended.stderr) == (2, True)
