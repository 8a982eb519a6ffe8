"""Targets of notifications over HTTP. The controller of these tests has no config file."""

from typing import Any

import pytest

from tests.api.served import Served


def test_without_a_config_file_the_targets_are_empty(api: Served) -> None:
    assert api.ask("GET", "/notify") == (200, {"targets": [], "installed": True})
    assert api.ask("GET", "/status")[1]["notifications"] is None


@pytest.mark.parametrize("targets", [[], [""], ["x" * 400], "mail", None, [7], ["mail"] * 33])
def test_a_bad_test_is_refused(api: Served, targets: Any) -> None:
    assert api.ask("POST", "/notify/test", {"targets": targets})[0] == 400


@pytest.mark.parametrize(
    ("job", "key"),
    [
        ({"notify": ["mail"]}, "notify.none_configured"),
        ({"notify": ["bob@example.org"]}, "notify.no_mail"),
        ({"notify": ["slack://t0ken"]}, "notify.url"),
        ({"notify_on": ["end"]}, "notify.on_without_target"),
        ({"notify_on": ["ends"]}, "notify.unknown_event"),
        ({"notify": [], "notify_on": ["queue-empty"]}, "notify.unknown_event"),
        ({"notify": "mail"}, "request.wrong_fields"),
        ({"notify": [""]}, "request.wrong_fields"),
        ({"notify": ["a"] * 33}, "request.wrong_fields"),
    ],
)
def test_a_submit_with_a_bad_target_is_refused_as_a_whole(api: Served, job: dict[str, Any], key: str) -> None:
    before = api.ask("GET", "/jobs?limit=1&order=desc")[1]
    status, answer = api.submit({"command": ["true"], "gpus": 0}, {"command": ["true"], "gpus": 0, **job})
    assert (status, answer["error"]["key"]) == (400, key)
    assert "t0ken" not in str(answer)
    assert api.ask("GET", "/jobs?limit=1&order=desc")[1] == before


def test_a_job_without_targets_says_so(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0, "notify": []})
    shown = api.ask("GET", f"/jobs/{job}")[1]
    assert (shown["notify"], shown["notify_on"]) == ([], [])


def test_a_bad_edit_changes_nothing(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    for changes in ({"notify": ["mail"]}, {"notify_on": ["end"]}, {"notify_on": ["ends"]}, {"notify": 3}):
        assert api.ask("PATCH", f"/jobs/{job}", {**changes, "name": "changed"})[0] == 400
    status, shown = api.ask("PATCH", f"/jobs/{job}", {"notify": [], "notify_on": None})
    assert (status, shown["notify"], shown["name"]) == (200, [], None)
    assert api.ask("PATCH", f"/jobs/{job}", {"notify": None})[0] == 200
