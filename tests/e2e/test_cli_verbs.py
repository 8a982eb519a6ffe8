"""The smaller verbs: show, kill, rm, gpus, status."""

import json

import pytest

from tests.home import Home, until
from tests.terminal import Terminal


def finished(home: Home, *words: str) -> str:
    number = str(home.add(*words))
    home.tarmac("wait", number)
    return number


def test_show_prints_all_fields_and_the_history(shared_home: Home) -> None:
    number = finished(shared_home, "-n", "big", "--tag", "a", "--tag", "b", "--project", "p", "-c", "exit 3")
    shown = shared_home.tarmac("show", number).stdout
    for words in (
        f"Job {number}  big",
        "failed (exit 3)",
        "exit 3",
        "a, b",
        "submitted",
        "started",
        "ended",
        "History",
    ):
        assert words in shown
    assert "job exited" in shown


def test_show_says_why_a_job_waits(home: Home) -> None:
    home.add("-g", "2", "sleep", "600")
    assert until(lambda: home.client().job(1).state == "running")
    number = home.add("true")
    assert "requested 1 GPU; 0 of 2 are free (held by job 1)" in home.tarmac("show", str(number)).stdout


def test_show_of_one_is_an_object_and_of_several_a_list(shared_home: Home) -> None:
    first, second = finished(shared_home, "true"), finished(shared_home, "true")
    assert json.loads(shared_home.tarmac("show", "--json", first).stdout)[0]["id"] == int(first)
    assert json.loads(shared_home.tarmac("show", "--json").stdout)[0]["id"] == int(second)
    both = json.loads(shared_home.tarmac("show", "--json", f"{first}-{second}").stdout)
    assert [job["id"] for job in both] == [int(first), int(second)]


def test_a_long_command_wraps_on_a_terminal(shared_home: Home) -> None:
    number = finished(shared_home, "true", "x" * 300)
    with Terminal(shared_home, "show", number, columns=60, NO_COLOR="1") as terminal:
        terminal.ends()
        assert max(map(len, terminal.text.splitlines())) <= 60
        assert terminal.text.count("x" * 40) >= 5


def test_kill_takes_ids_ranges_and_filters(home: Home) -> None:
    home.add("-g", "2", "sleep", "600")
    for number in range(2, 8):
        home.add("--tag", f"t{number % 2}", "true")
    assert json.loads(home.tarmac("kill", "2-3", "5", "--json").stdout)["asked"] == [2, 3, 5]
    assert json.loads(home.tarmac("kill", "--tag", "t0", "--state", "queued", "--json").stdout)["asked"] == [4, 6]
    assert json.loads(home.tarmac("kill", "all", "--json").stdout)["asked"] == [1, 7]
    assert home.tarmac("wait", "1-7").returncode != 0
    assert {job.state for job in home.client().jobs()} == {"cancelled"}


def test_killing_an_ended_job_is_reported_and_succeeds(shared_home: Home) -> None:
    number = finished(shared_home, "true")
    done = shared_home.tarmac("kill", number)
    assert (done.returncode, done.stdout) == (0, "")
    assert f"job {number} had already ended" in done.stderr


def test_kill_is_quiet_when_all_goes_well(home: Home) -> None:
    done = home.tarmac("kill", str(home.add("sleep", "600")))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_rm_removes_jobs(shared_home: Home) -> None:
    number = finished(shared_home, "true")
    assert json.loads(shared_home.tarmac("rm", number, "--json").stdout) == {"removed": [int(number)]}
    gone = shared_home.tarmac("show", number)
    assert (gone.returncode, gone.stdout) == (3, "")
    assert "ls -a" in gone.stderr


def test_rm_of_a_running_job_is_refused(home: Home) -> None:
    number = home.add("sleep", "600")
    assert until(lambda: home.client().job(number).state == "running")
    done = home.tarmac("rm", str(number))
    assert done.returncode == 2
    assert "kill" in done.stderr


@pytest.mark.parametrize("verb", ["kill", "rm"])
def test_kill_and_rm_require_a_selection(shared_home: Home, verb: str) -> None:
    done = shared_home.tarmac(verb)
    assert done.returncode == 2
    assert "no jobs given" in done.stderr


@pytest.mark.parametrize("verb", ["show", "log", "wait", "kill", "rm"])
def test_a_missing_id_is_not_found(shared_home: Home, verb: str) -> None:
    done = shared_home.tarmac(verb, "123456")
    assert (done.returncode, done.stdout) == (3, "")
    assert "123456" in done.stderr


@pytest.mark.parametrize("verb", ["show", "log", "wait", "kill", "rm"])
def test_a_word_that_is_not_an_id_is_refused(shared_home: Home, verb: str) -> None:
    done = shared_home.tarmac(verb, "my-job")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a job id" in done.stderr


def test_last_is_not_found_in_an_empty_queue(home: Home) -> None:
    done = home.tarmac("show")
    assert done.returncode == 3
    assert "tarmac add" in done.stderr


def test_gpus(shared_home: Home) -> None:
    printed = shared_home.tarmac("gpus").stdout
    assert printed.splitlines()[0].split() == ["GPU", "MODEL", "MEMORY", "UTIL", "JOBS"]
    listed = json.loads(shared_home.tarmac("gpus", "--json").stdout)
    assert [gpu["index"] for gpu in listed] == [0, 1]
    names = "node index uuid model memory_total_bytes memory_used_bytes utilization temperature jobs processes drained"
    more = "reason power_w slots booked_bytes make parent health held"
    assert set(listed[0]) >= {*names.split(), *more.split()}


def test_a_machine_without_gpus_says_so(home: Home) -> None:
    home.environment["TARMAC_FAKE_GPUS"] = "0"
    done = home.tarmac("gpus")
    assert (done.returncode, done.stdout) == (0, "")
    assert "TARMAC_FAKE_GPUS" in done.stderr
    assert json.loads(home.tarmac("gpus", "--json").stdout) == []
    assert home.tarmac("run", "-g", "0", "echo", "works").stdout == "works\n"


def test_status(shared_home: Home) -> None:
    status = json.loads(shared_home.tarmac("status", "--json").stdout)
    names = "controller_pid agent_pid version policy paused running queued containment"
    assert set(status) >= set(names.split())
    printed = shared_home.tarmac("status").stdout
    assert f"pid {status['controller_pid']}" in printed
    assert status["containment"] in printed


@pytest.mark.parametrize("verb", ["gpus", "status", "stop", "doctor", "serve"])
def test_unexpected_arguments_are_refused(shared_home: Home, verb: str) -> None:
    done = shared_home.tarmac(verb, "7")
    assert done.returncode == 2
    assert f"{verb}: unexpected argument '7'" in done.stderr
