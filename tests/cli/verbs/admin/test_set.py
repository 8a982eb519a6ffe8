import json
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.render.admin.settings import description, shown, table
from tarmac.cli.render.text import cells
from tarmac.client.records import Setting
from tests.cli.stub import answer, asked, serving


def a_setting(name: str = "max_load", value: str = "0.1", **fields: Any) -> Setting:
    return Setting({
        "name": name, "value": value, "default": "0.1", "origin": "default", "kind": "fraction", "choices": None,
        "meaning": "a GPU on which others compute no more than this may be used", **fields,
    })  # fmt: skip


SETTINGS = [
    a_setting(),
    a_setting("idle_warn_s", "1800", kind="seconds", default="5400", origin="config"),
    a_setting("idle_action", "warn", kind="choice", choices=["none", "warn", "stop"], default="none", origin="live"),
    a_setting("ignore_processes", "Xorg,Xwayland,gnome-shell,kwin_*,sunshine", kind="words", default=""),
]


@pytest.mark.parametrize(
    ("line", "request_line", "body"),
    [
        ("set max_load", "GET /settings/max_load", None),
        ("set max_load 20%", "PUT /settings/max_load", {"value": "20%"}),
        ("set max_load=20%", "PUT /settings/max_load", {"value": "20%"}),
        ("set max_load = 20%", "PUT /settings/max_load", {"value": "20%"}),
        ("set max_load -1", "PUT /settings/max_load", {"value": "-1"}),
        ("set max_load -.5", "PUT /settings/max_load", {"value": "-.5"}),
        ("set idle_warn_s -5m", "PUT /settings/idle_warn_s", {"value": "-5m"}),
        ("set max_load --reset", "DELETE /settings/max_load", None),
        ("set --reset max_load", "DELETE /settings/max_load", None),
        ("set a/../b c", "PUT /settings/a%2F..%2Fb", {"value": "c"}),
    ],
)
def test_what_is_sent(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, request_line: str, body: object
) -> None:
    with serving(socket, answer(json.dumps(a_setting().raw).encode())) as stub:
        assert run_line(line.split()) == 0
    assert asked(stub) == [(request_line, body)]


def test_a_wrong_name_gets_the_message_of_the_controller(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    error = {"error": {"code": "not_found", "message": "no setting max_laod", "hint": "did you mean max_load?"}}
    with serving(socket, answer(json.dumps(error).encode(), "404 Not Found")):
        assert run_line(["set", "max_laod", "1"]) == 3
    assert capfd.readouterr().err == "tarmac: no setting max_laod\n  did you mean max_load?\n"


@pytest.mark.parametrize("line", ["set --reset", "set a b --reset", "set a b c"])
def test_what_is_refused_without_a_controller(socket: Path, line: str) -> None:
    assert run_line(line.split()) == 2


def test_json_is_the_answer_of_the_api(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, answer(json.dumps({"settings": [setting.raw for setting in SETTINGS]}).encode())):
        assert run_line(["set", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == [setting.raw for setting in SETTINGS]


def test_without_a_terminal_each_setting_is_one_line() -> None:
    rows = table(SETTINGS, width=None, has_colours=False)
    assert rows[0].split() == ["NAME", "VALUE", "DEFAULT", "ORIGIN", "MEANING"]
    assert len(rows) == 1 + len(SETTINGS)
    assert "Xorg,Xwayland,gnome-shell,kwin_*,sunshine" in rows[4]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160, 200])
def test_the_table_fits_the_terminal_and_no_meaning_is_cut(width: int) -> None:
    rows = table(SETTINGS, width=width, has_colours=False)
    assert all(cells(row) <= width for row in rows)
    words = " ".join(" ".join(rows).split())
    assert all(word in words for word in SETTINGS[0].meaning.split())


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ("1800", "seconds", "30m"),
        ("10.0", "seconds", "10s"),
        ("90", "seconds", "90s"),
        ("7200", "seconds", "2h"),
        ("172800", "seconds", "2d"),
        ("0.5", "seconds", "0.5"),
        ("0", "seconds", "0s"),
        ("1800", "count", "1800"),
        ("", "words", "-"),
        (True, "flag", "true"),
        (["a", "b"], "words", "a,b"),
    ],
)
def test_values_are_shown_as_they_could_be_typed(value: object, kind: str, words: str) -> None:
    assert shown(Setting({"value": value, "kind": kind}), "value") == words


def test_one_setting_is_shown_with_its_choices() -> None:
    text = "\n".join(description(SETTINGS[2], width=80, has_colours=False))
    assert "choices  none, warn, stop" in text
    assert "origin   live" in text
