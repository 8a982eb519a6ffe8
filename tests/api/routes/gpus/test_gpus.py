import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.served import Served
from tests.home import Home, until

G = 2**30
FIRST = "GPU-fa4e0000-0000-0000-0000-000000000000"


@pytest.fixture(autouse=True)
def _as_before(api: Served) -> Iterator[None]:
    yield
    for path, body in (("resume", {"gpus": ["0", "1"]}), ("slots", {"gpus": ["0", "1"], "slots": 1})):
        assert api.ask("POST", f"/gpus/{path}", body)[0] == 200


def test_jobs_that_book_memory_share_a_gpu(api: Served) -> None:
    ids = api.ids(*[{"command": ["sleep", "60"], "gpu_memory_bytes": 8 * G}] * 7)
    gpus = [api.until(job, "running")["gpus"][0]["index"] for job in ids[:6]]
    assert gpus == [0, 0, 0, 1, 1, 1]
    waiting = api.ask("GET", f"/jobs/{ids[6]}")[1]
    assert waiting["state"] == "queued"
    assert "GPU 0-1: 0B of 24.0G is free; 8.0G requested" in waiting["why"]
    gpu = api.ask("GET", "/gpus")[1]["gpus"][0]
    assert (gpu["jobs"], gpu["booked_bytes"]) == (ids[:3], 24 * G)


def test_a_drained_gpu_gets_nothing_until_it_is_resumed(api: Served) -> None:
    assert api.ask("POST", "/gpus/drain", {"gpus": ["0"], "reason": "fan is loud"})[0] == 200
    (job,) = api.ids({"command": ["sleep", "60"]})
    assert api.until(job, "running")["gpus"][0]["index"] == 1
    gpu = api.ask("GET", "/gpus")[1]["gpus"][0]
    assert (gpu["drained"], gpu["reason"]) == (True, "fan is loud")
    (pinned,) = api.ids({"command": ["sleep", "60"], "gpus_on": [0]})
    assert "GPU 0: drained: fan is loud" in api.ask("GET", f"/jobs/{pinned}")[1]["why"]
    assert api.ask("POST", "/gpus/drain", {"gpus": ["0"]})[0] == 200
    gpu = api.ask("GET", "/gpus")[1]["gpus"][0]
    owner = api.ask("GET", f"/jobs/{pinned}")[1]["owner"]
    assert (gpu["drained"], gpu["drained_by"], gpu["reason"]) == (True, owner, None)
    assert f"GPU 0: drained by {owner}" in api.ask("GET", f"/jobs/{pinned}")[1]["why"]
    api.ask("POST", "/gpus/resume", {"gpus": [gpu["uuid"]]})
    assert api.until(pinned, "running")["gpus"][0]["index"] == 0


def test_a_pin_is_given_by_index_or_uuid_and_shown_by_the_current_index(api: Served) -> None:
    pinned, excluding = api.ids(
        {"command": ["true"], "gpus_on": [FIRST[:-1] + "1", "0"]}, {"command": ["true"], "exclude_gpus": [FIRST]}
    )
    seen = api.until(pinned, "succeeded")
    assert (seen["gpus_on"], [gpu["index"] for gpu in seen["gpus"]]) == ([0, 1], [0, 1])
    seen = api.until(excluding, "succeeded")
    assert (seen["exclude_gpus"], [gpu["index"] for gpu in seen["gpus"]]) == ([0], [1])


def test_memory_that_a_setting_reserves_is_refused_and_named_to_waiting_jobs(api: Served) -> None:
    api.ids(*[{"command": ["sleep", "60"]}] * 2)
    (job,) = api.ids({"command": ["true"], "gpu_memory_bytes": 20 * G})
    said = "requested 20.0G of a GPU; at most 18.0G (19327352832 bytes) can be booked, as keep_gpu_memory"
    assert api.ask("PUT", "/settings/keep_gpu_memory", {"value": "0.25"})[0] == 200
    try:
        assert said in api.ask("GET", f"/jobs/{job}")[1]["why"][1]
        assert said in api.ask("GET", f"/jobs?ids={job}")[1]["jobs"][0]["reason"]
        status, answer = api.submit({"command": ["true"], "gpu_memory_bytes": 20 * G})
        assert (status, said in answer["error"]["message"]) == (400, True)
    finally:
        assert api.ask("DELETE", "/settings/keep_gpu_memory")[0] == 200


@pytest.mark.parametrize("value", ["1", "100%"])
def test_a_setting_that_would_leave_nothing_to_share_is_refused(api: Served, value: str) -> None:
    status, answer = api.ask("PUT", "/settings/keep_gpu_memory", {"value": value})
    assert (status, "leaves no memory" in answer["error"]["message"]) == (400, True)


def test_slots_offer_a_gpu_several_times(api: Served) -> None:
    api.ask("POST", "/gpus/slots", {"gpus": ["0"], "slots": 2})
    ids = api.ids(*[{"command": ["sleep", "60"], "gpus_on": [0]}] * 3)
    assert [api.until(job, "running")["id"] for job in ids[:2]] == ids[:2]
    assert api.ask("GET", f"/jobs/{ids[2]}")[1]["state"] == "queued"


def test_drains_slots_and_settings_outlive_the_controller(home: Home) -> None:
    here = Served(home)
    here.ask("POST", "/gpus/drain", {"gpus": ["1"], "reason": "mine"})
    here.ask("POST", "/gpus/slots", {"gpus": ["0"], "slots": 3})
    here.ask("PUT", "/settings/max_load", {"value": "33%"})
    assert home.tarmac("stop").returncode == 0
    assert home.tarmac("status").returncode == 0
    gpus = here.ask("GET", "/gpus")[1]["gpus"]
    assert [(gpu["drained"], gpu["slots"]) for gpu in gpus] == [(False, 3), (True, 1)]
    setting = here.ask("GET", "/settings/max_load")[1]
    assert (setting["value"], setting["origin"]) == ("0.33", "live")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("drain", {"gpus": ["7"]}, 404),
        ("drain", {"gpus": []}, 400),
        ("slots", {"gpus": ["0"], "slots": 0}, 400),
        ("slots", {"gpus": ["0"], "slots": 65}, 400),
        ("ignore", {}, 400),
        ("ignore", {"pid": 0}, 400),
        ("ignore", {"command": "a,b"}, 400),
    ],
)
def test_wrong_requests_are_refused(api: Served, path: str, body: dict[str, object], status: int) -> None:
    answer = api.ask("POST", f"/gpus/{path}", body)
    assert answer[0] == status
    assert answer[1]["error"]["message"]


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"gpu_memory_bytes": 25 * G}, "requested 25.0G of memory on a GPU; the largest has 24.0G"),
        ({"gpu_memory_bytes": 0}, "gpu_memory_bytes"),
        ({"gpu_share": 1.5}, "gpu_share"),
        ({"gpu_share": 0.5, "gpu_memory_bytes": G}, "cannot be combined"),
        ({"gpu_share": 0.5, "gpus": 0}, "no GPU"),
        ({"gpu_models": ["h100"]}, "requested 1 GPU of model h100; this machine has none"),
        ({"min_gpu_memory_bytes": 80 * G}, "requested 80.0G of memory on a GPU; the largest has 24.0G"),
        ({"gpus_on": [9]}, "GPU 9 does not exist"),
        ({"gpus_on": ["GPU-nowhere"]}, "no GPU has a UUID that starts with GPU-nowhere"),
        ({"gpus_on": ["GPU-fa4e"]}, "GPU-fa4e matches 2 GPUs"),
        ({"exclude_gpus": [9]}, "GPU 9 does not exist"),
        ({"exclude_gpus": [0, 1]}, "requested 1 GPU, but all 2 are excluded"),
        ({"gpus_on": [0, 1], "gpus": 1}, "gpus_on names 2"),
        ({"gpus_on": [0], "exclude_gpus": [0]}, "excluded"),
        ({"idle_below": 0}, "idle_below"),
        ({"gpus_on": [0, FIRST], "gpus": 2}, "requested 2 GPUs, but gpus_on names 1"),
        ({"cpus": 100_000, "memory_bytes": 1}, "requested 100000 CPU cores; this machine has"),
        ({"memory_bytes": 2**60, "cpus": 1}, "requested 1048576T of host memory; this machine has"),
    ],
)
def test_requests_that_can_never_be_met_are_refused_at_once(api: Served, job: dict[str, object], says: str) -> None:
    status, answer = api.submit({"command": ["true"], **job})
    assert status == 400
    assert says in answer["error"]["message"]


def test_settings_are_validated_in_force_at_once_and_can_be_reset(api: Served) -> None:
    names = [setting["name"] for setting in api.ask("GET", "/settings")[1]["settings"]]
    assert "max_memory" in names
    assert api.ask("PUT", "/settings/max_cpu_jobs", {"value": "1"})[0] == 200
    first, second = api.ids(*[{"command": ["sleep", "60"], "gpus": 0}] * 2)
    api.until(first, "running")
    assert "all 1 slots" in api.ask("GET", f"/jobs/{second}")[1]["why"][1]
    assert api.ask("DELETE", "/settings/max_cpu_jobs")[1]["origin"] == "default"
    api.until(second, "running")
    assert api.ask("PUT", "/settings/max_load", {"value": "lots"})[0] == 400
    assert api.ask("GET", "/settings/max_laod")[1]["error"]["hint"] == "did you mean max_load?"
    assert "keep_host_memory" in api.ask("GET", "/settings/SAFETY_KEEP_MEMORY")[1]["error"]["hint"]


def test_an_adopted_process_is_watched_and_holds_its_gpus(api: Served) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        status, answer = api.ask("POST", "/adopt", {"pid": process.pid, "gpus": [0], "name": "by hand"})
        assert status == 201, answer
        seen = api.until(answer["id"], "running")
        assert (seen["name"], seen["command"], seen["pid"]) == ("by hand", ["sleep", "60"], process.pid)
        status, refused = api.ask("POST", "/adopt", {"pid": process.pid, "gpus": [1]})
        assert (status, refused["error"]["message"]) == (
            409,
            f"process {process.pid} already belongs to job {answer['id']}",
        )
        (other,) = api.ids({"command": ["sleep", "60"], "gpus_on": [0]})
        assert api.ask("GET", f"/jobs/{other}")[1]["state"] == "queued"
        os.kill(process.pid, 15)
        process.wait()
    ended = api.until(answer["id"], "unknown")
    assert (ended["exit_code"], ended["ended_at"] is not None) == (None, True)
    api.until(other, "running")


def test_a_process_that_cannot_be_adopted_is_refused_with_the_reason(api: Served) -> None:
    assert api.ask("POST", "/adopt", {"pid": 2**22 - 1})[0] == 404
    (job,) = api.ids({"command": ["sleep", "60"]})
    api.until(job, "running")
    with subprocess.Popen(["sleep", "60"]) as process:
        status, answer = api.ask("POST", "/adopt", {"pid": process.pid, "gpus": [0]})
        assert status == 409
        assert f"held by job {job}" in answer["error"]["message"]
        process.kill()


def test_the_samples_of_a_gpu_are_served(api: Served) -> None:
    assert api.ask("GET", "/gpus/0/samples")[1] == {"samples": []}, "simulated GPUs do nothing"
    fine = api.ask("GET", "/gpus/0/samples?fine=1")[1]["samples"]
    assert fine, "what was read is still in memory"
    assert fine[0]["utilization"] == 0
    assert api.ask("GET", "/gpus/0/samples?fine=1&since_s=0")[1] == {"samples": []}
    assert api.ask("GET", "/gpus/9/samples")[0] == 404
    assert api.ask("GET", "/gpus/0/samples?since_s=-1")[0] == 400


def test_a_command_of_the_users_choice_is_run_when_something_is_wrong(home: Home, tmp_path: Path) -> None:
    here = Served(home)
    out = tmp_path / "told"
    here.ask("PUT", "/settings/notify_command", {"value": f"echo $TARMAC_MESSAGE >> {out}"})
    for name, value in (("idle_action", "warn"), ("idle_warn_s", "1")):
        here.ask("PUT", f"/settings/{name}", {"value": value})
    (job,) = here.ids({"command": ["sleep", "60"]})
    here.until(job, "running")
    assert until(out.exists, 30), "an idle job is noticed without new readings"
    assert until(out.read_text).startswith(f"job {job}: its GPUs did nothing")
    (warning,) = here.ask("GET", f"/jobs/{job}")[1]["warnings"]
    assert warning.startswith("idle for ")
    (gpu,) = (gpu for gpu in here.ask("GET", "/gpus")[1]["gpus"] if gpu["jobs"])
    assert [words.partition("idle")[0] for words in gpu["warnings"]] == [f"job {job}: "]
