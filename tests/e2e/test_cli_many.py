"""move, start and edit take several jobs, ranges and filters, as the other verbs do."""

import json

from tests.home import Home, until


def waiting(home: Home) -> list[int]:
    listed = json.loads(home.tarmac("ls", "--json", "--state", "queued").stdout)
    return [job["id"] for job in sorted(listed, key=lambda job: job["position"])]


def a_queue(home: Home, count: int) -> None:
    home.add("-g", "2", "sleep", "100")
    assert until(lambda: json.loads(home.tarmac("ls", "--json", "1").stdout)[0]["state"] == "running")
    for number in range(count):
        home.add("-g", "2", "--tag", "odd" if number % 2 == 0 else "even", "sleep", "100")


def test_move_takes_filters_ranges_and_ids(home: Home) -> None:
    a_queue(home, 6)  # jobs 2 to 7
    assert home.tarmac("move", "--tag", "even", "first").returncode == 0
    assert waiting(home) == [3, 5, 7, 2, 4, 6]
    assert home.tarmac("move", "3-5", "last").returncode == 0
    assert waiting(home) == [7, 2, 6, 3, 5, 4]
    done = home.tarmac("move", "2", "6", "1", "--json")
    assert waiting(home) == [2, 6, 7, 3, 5, 4]
    answer = json.loads(done.stdout)
    assert [(job["id"], job["position"]) for job in answer["moved"]] == [(2, 1), (6, 2)]
    assert answer["not_waiting"] == []
    done = home.tarmac("move", "1-3", "1")
    assert "job 1 is not waiting" in done.stderr
    assert waiting(home)[:2] == [2, 3]
    assert home.tarmac("move", "1", "1").returncode == 2


def test_start_takes_filters_and_ids(home: Home) -> None:
    for tag in ("a", "a", "b"):
        home.add("-g", "0", "--hold", "--tag", tag, "sleep", "100")
    done = home.tarmac("start", "--tag", "a", "--json")
    assert [job["id"] for job in json.loads(done.stdout)] == [1, 2]
    done = home.tarmac("start", "1-3", "--json")
    assert (done.returncode, [job["id"] for job in json.loads(done.stdout)]) == (0, [3])
    done = home.tarmac("start", "--tag", "a")
    assert done.returncode == 3, "none of them still waits"
    done = home.tarmac("start", "1", "2")
    assert (done.returncode, done.stderr.count("is not waiting")) == (2, 2)


def test_start_on_chosen_gpus_is_for_one_job(home: Home) -> None:
    home.add("--hold", "sleep", "100")
    home.add("--hold", "sleep", "100")
    done = home.tarmac("start", "all", "--gpus-on", "0")
    assert (done.returncode, "is for one job" in done.stderr) == (2, True)


def test_edit_takes_the_filters_that_do_not_change_jobs(home: Home) -> None:
    home.add("-g", "0", "--hold", "true")
    home.add("-g", "0", "--draft", "true")
    done = home.tarmac("edit", "--state", "held", "-p", "3", "--json")
    assert json.loads(done.stdout) == {"edited": [1], "not_waiting": []}
    assert [job["priority"] for job in json.loads(home.tarmac("ls", "--json").stdout)] == [3, 10]
