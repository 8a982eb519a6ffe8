"""The controller's own log over HTTP."""

from pathlib import Path

import pytest

from tarmac.controller.state_directory import log_reader
from tarmac.controller.state_directory.log_reader import last_lines, lines_after, without_any_secret
from tests.api.served import Served


def test_the_last_lines_come_first_and_then_what_is_written_since(api: Served) -> None:
    status, first = api.ask("GET", "/controller/log?lines=1")
    assert (status, first["text"].count("\n")) == (200, 1)
    with (api.home / "controller.log").open("a") as log:
        log.write("written since, HF_TOKEN=hf_verysecret json://ann:pw123456@host/path\n")
    _, more = api.ask("GET", f"/controller/log?after={first['next']}")
    assert "written since, HF_TOKEN=***" in more["text"]
    assert "verysecret" not in more["text"]
    assert "pw123456" not in more["text"]
    assert not more["cut"]
    assert "written since" not in api.ask("GET", f"/controller/log?after={more['next']}")[1]["text"]


@pytest.mark.parametrize("query", ["lines=0", "lines=2001", "lines=x", "path=/etc/passwd", f"after={'9' * 65}"])
def test_a_bad_query_is_refused(api: Served, query: str) -> None:
    assert api.ask("GET", f"/controller/log?{query}")[0] == 400


def test_a_place_in_a_file_that_was_renamed_gives_the_last_lines_of_the_new_one(tmp_path: Path) -> None:
    log = tmp_path / "controller.log"
    log.write_text("old\n")
    place = last_lines(str(log), 10).place
    log.rename(tmp_path / "controller.log.1")
    log.write_text("new\n")
    part = lines_after(str(log), place, 10)
    assert (part.text, part.is_cut) == ("new\n", True)
    assert lines_after(str(log), "../../etc/passwd", 10).text == "new\n"


def test_a_line_that_is_being_written_is_left_for_the_next_part(tmp_path: Path) -> None:
    log = tmp_path / "controller.log"
    log.write_text("whole\nHF_TO")
    first = last_lines(str(log), 10)
    assert first.text == "whole\n"
    with log.open("a") as file:
        file.write("KEN=x\n")
    assert lines_after(str(log), first.place, 10).text == "HF_TOKEN=x\n"


def test_a_large_log_is_cut_at_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reader, "LARGEST_PART", 64)
    log = tmp_path / "controller.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    part = last_lines(str(log), 1000)
    assert part.is_cut
    assert part.text.startswith("line ")
    assert part.text.endswith("line 99\n")
    assert len(part.text) <= 64


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password='a b'", "password=***"),
        ("api_key: abcdef", "api_key: ***"),
        ("https://ann:pw@host/x", "https://***@host/***"),
        ("hook/t0ken-of-a-target failed", "hook/*** failed"),
        ("job 7: started", "job 7: started"),
    ],
)
def test_secrets_are_masked(text: str, shown: str) -> None:
    assert without_any_secret(text, ["slack://t0ken-of-a-target"]) == shown
