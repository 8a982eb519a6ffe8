"""Ignoring foreign processes on GPUs, over HTTP."""

import subprocess
from collections.abc import Iterator

import pytest

from tests.api.served import Served
from tests.home import Home


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"pid": 2**30}, 404, f"process {2**30} does not exist"),
        ({"pid": 2**30, "forget": True}, 404, f"pid {2**30} is not ignored"),
        ({"command": "nothere", "forget": True}, 404, "nothere is not ignored"),
        ({"command": "*"}, 400, "* matches every process of every program"),
        ({"command": "a,b"}, 400, "a,b is not the name of a program: it contains a comma"),
    ],
)
def test_invalid_ignore_requests_are_refused(api: Served, body: dict[str, object], status: int, says: str) -> None:
    answer = api.ask("POST", "/gpus/ignore", body)
    assert (answer[0], answer[1]["error"]["message"]) == (status, says)
    assert answer[1]["error"]["hint"]
    assert api.ask("GET", "/settings/ignore_processes")[1]["origin"] == "default"


def test_no_longer_ignoring_a_program_restores_the_setting(api: Served) -> None:
    api.ask("POST", "/gpus/ignore", {"command": "sunshine"})
    assert api.ask("GET", "/settings/ignore_processes")[1]["origin"] == "live"
    api.ask("POST", "/gpus/ignore", {"command": "sunshine", "forget": True})
    assert api.ask("GET", "/settings/ignore_processes")[1]["origin"] == "default"


def test_programs_and_pids_are_ignored_over_a_restart(home: Home, sleeper: int) -> None:
    here = Served(home)
    here.ask("POST", "/gpus/ignore", {"command": "sunshine"})
    here.ask("POST", "/gpus/ignore", {"pid": sleeper})
    home.tarmac("stop")
    home.tarmac("status")
    assert "sunshine" in here.ask("GET", "/settings/ignore_processes")[1]["value"]
    assert here.ask("POST", "/gpus/ignore", {"pid": sleeper, "forget": True}) == (200, {"ignored": []})


def test_contradictory_settings_are_refused(api: Served) -> None:
    status, answer = api.ask("PUT", "/settings/idle_stop_s", {"value": "5m"})
    assert status == 400
    assert "idle_stop_s (5m) would be below idle_warn_s (30m)" in answer["error"]["message"]
    assert api.ask("GET", "/settings/idle_stop_s")[1]["origin"] == "default"


@pytest.mark.parametrize(
    ("body", "key"), [({}, "process.none_named"), ({"pid": 7, "command": "Xorg"}, "process.pid_and_program")]
)
def test_either_a_pid_or_a_program_is_named(api: Served, body: dict[str, object], key: str) -> None:
    status, answer = api.ask("POST", "/gpus/ignore", body)
    assert (status, answer["error"]["key"]) == (400, key)


def ignored(api: Served) -> dict[str, tuple[str, bool]]:
    listed = api.ask("GET", "/gpus/ignore")[1]["ignored"]
    return {one["program"] or one["pid"]: (one["origin"], one["off"]) for one in listed}


def test_forgetting_does_not_remove_a_default(api: Served) -> None:
    status, answer = api.ask("POST", "/gpus/ignore", {"command": "Xorg", "forget": True})
    assert (status, answer["error"]["key"]) == (409, "process.ignored_by_default")
    assert "--off Xorg" in answer["error"]["hint"]
    assert ignored(api)["Xorg"] == ("default", False)
    api.ask("POST", "/gpus/ignore", {"command": "Xorg"})
    status, _ = api.ask("POST", "/gpus/ignore", {"command": "Xorg", "forget": True})
    assert status == 409, "adding a default adds nothing"
    assert api.ask("GET", "/settings/ignore_processes")[1]["origin"] == "default"


def test_a_default_is_switched_off_and_on_again(api: Served) -> None:
    before = api.ask("GET", "/settings/ignore_processes")[1]
    assert api.ask("POST", "/gpus/ignore", {"command": "Xorg", "off": True})[0] == 200
    assert ignored(api)["Xorg"] == ("default", True)
    assert api.ask("POST", "/gpus/ignore", {"command": "Xorg", "off": True})[0] == 404
    for undo in ({"command": "Xorg"}, {"command": "Xorg", "forget": True}):
        assert api.ask("POST", "/gpus/ignore", undo)[0] == 200
        assert ignored(api)["Xorg"] == ("default", False)
        assert api.ask("GET", "/settings/ignore_processes")[1] == before
        assert api.ask("POST", "/gpus/ignore", {"command": "Xorg", "off": True})[0] == 200
    assert api.ask("POST", "/gpus/ignore", {"command": "Xorg"})[0] == 200


def test_the_list_shows_what_a_user_added(api: Served, sleeper: int) -> None:
    api.ask("POST", "/gpus/ignore", {"command": "sunshine"})
    api.ask("POST", "/gpus/ignore", {"pid": sleeper})
    listed = ignored(api)
    assert (listed["sunshine"], listed[sleeper]) == (("user", False), ("user", False))
    api.ask("POST", "/gpus/ignore", {"command": "sunshine", "forget": True})
    api.ask("POST", "/gpus/ignore", {"pid": sleeper, "forget": True})
    assert not {"sunshine", sleeper} & {*ignored(api)}


def test_a_program_that_a_pattern_matches_is_not_called_counted(api: Served) -> None:
    status, answer = api.ask("POST", "/gpus/ignore", {"command": "kwin_wayland", "forget": True})
    assert (status, answer["error"]["message"]) == (409, "kwin_wayland is ignored because it matches kwin_*")
    assert "--off 'kwin_*'" in answer["error"]["hint"]


@pytest.mark.parametrize("body", [{"pid": 7, "off": True}, {"command": "Xorg", "off": True, "forget": True}])
def test_off_is_for_defaults_alone(api: Served, body: dict[str, object]) -> None:
    status, answer = api.ask("POST", "/gpus/ignore", body)
    assert (status, answer["error"]["key"]) == (400, "process.off_is_for_programs")
