"""--json: one shape per verb, whatever matches."""

import json
from typing import Any

from tests.home import Home


def read(home: Home, *words: str, code: int = 0) -> Any:
    done = home.tarmac(*words, "--json")
    assert done.returncode == code, done
    return json.loads(done.stdout)


def test_one_and_several_jobs_have_the_same_shape(shared_home: Home) -> None:
    ids = [str(shared_home.add("-g", "0", "true")) for _ in range(2)]
    for verb in ("ls", "show", "why", "wait", "log"):
        for given in (ids[:1], ids):
            answer = read(shared_home, verb, *given)
            assert [job["id"] for job in answer] == [int(number) for number in given], verb


def test_add_has_one_shape(shared_home: Home) -> None:
    def add(*words: str) -> Any:
        return json.loads(shared_home.tarmac("add", "--json", "-g", "0", *words, "true").stdout)

    one = add()
    assert one == {"id": one["id"], "ids": [one["id"]]}
    many = add("--array", "2")
    assert many == {"id": many["id"], "ids": [many["id"], many["id"] + 1]}


def test_edit_has_one_shape(shared_home: Home) -> None:
    ids = [shared_home.add("-g", "0", "--hold", "true") for _ in range(2)]
    assert read(shared_home, "edit", str(ids[0]), "-p", "3") == {"edited": ids[:1], "not_waiting": []}
    assert read(shared_home, "edit", *map(str, ids), "-p", "3") == {"edited": ids, "not_waiting": []}


def test_run_prints_the_job_and_shows_the_output_on_stderr(shared_home: Home) -> None:
    done = shared_home.tarmac("run", "--json", "-g", "0", "-c", "echo out; exit 3")
    assert (done.returncode, done.stderr) == (3, "out\n")
    job = json.loads(done.stdout)
    assert (job["state"], job["exit_code"]) == ("failed", 3)


def test_log_as_json(shared_home: Home) -> None:
    number = shared_home.add("-g", "0", "-c", "seq 3; printf '\\377'")
    shared_home.tarmac("wait", str(number))
    (log,) = read(shared_home, "log", str(number), "-n", "2")
    assert log["path"].endswith(f"/logs/{number}.1.log")
    del log["path"]
    assert log == {"id": number, "attempt": 1, "stream": "stdout", "offset": 4, "text": "3\n\ufffd"}
    (own,) = read(shared_home, "log", "controller", "-n", "1")
    assert (own["log"], own["path"]) == ("controller", str(shared_home.path / "controller.log"))
    assert shared_home.tarmac("log", "-f", str(number), "--json").returncode == 2


def test_stop_as_json(home: Home) -> None:
    home.tarmac("status")
    assert read(home, "stop") == {"was_running": True, "running": 0, "stopping": 0}
    assert read(home, "stop") == {"was_running": False, "running": 0, "stopping": 0}
