"""`tarmac gpu …` and `tarmac adopt`: the requests they send, and what is refused before a request."""

import json
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tests.cli.render.gpus.gpu_records import a_gpu
from tests.cli.stub import answer, asked, serving


@pytest.mark.parametrize(
    ("line", "path", "body"),
    [
        ("gpu drain 0", "/gpus/drain", {"gpus": ["0"], "reason": None}),
        ("gpu drain 0,2 4-5 GPU-ab -r fan", "/gpus/drain", {"gpus": ["0", "2", "4", "5", "GPU-ab"], "reason": "fan"}),
        ("gpu resume 1 1", "/gpus/resume", {"gpus": ["1"]}),
        ("gpu forget 3 GPU-ab", "/gpus/forget", {"gpus": ["3", "GPU-ab"]}),
        ("gpu forget gone", "/gpus/forget", {"gpus": ["gone"]}),
        ("gpu slots 0-1 4", "/gpus/slots", {"gpus": ["0", "1"], "slots": 4}),
        ("gpu ignore-process 4242", "/gpus/ignore", {"pid": 4242, "forget": False}),
        ("gpu ignore-process Xorg", "/gpus/ignore", {"command": "Xorg", "forget": False}),
        ("gpu ignore-process --forget kwin_*", "/gpus/ignore", {"command": "kwin_*", "forget": True}),
    ],
)
def test_what_is_sent(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, path: str, body: dict[str, object]
) -> None:
    with serving(socket, answer(b'{"gpus": ["GPU-0"], "ignored": []}')) as stub:
        assert run_line(line.split()) == 0
    assert asked(stub) == [(f"POST {path}", body)]
    assert capfd.readouterr() == ("", "")


def test_all_expands_to_the_current_gpus(socket: Path) -> None:
    gpus = json.dumps({"gpus": [a_gpu(0).raw, a_gpu(1).raw], "error": None}).encode()
    with serving(socket, answer(gpus), answer(b'{"gpus": ["GPU-0", "GPU-1"]}')) as stub:
        assert run_line(["gpu", "resume", "all"]) == 0
    assert asked(stub)[1] == ("POST /gpus/resume", {"gpus": ["GPU-0", "GPU-1"]})


def test_json_lists_the_affected_gpus(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, answer(b'{"gpus": ["GPU-0"]}')):
        assert run_line(["gpu", "drain", "0", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"gpus": ["GPU-0"]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("gpu", "use drain, resume, forget, slots or ignore-process"),
        ("gpu drian 0", "did you mean `tarmac gpu drain`?"),
        ("gpu drain", "no GPUs given"),
        ("gpu drain 3-1", "ends before it begins"),
        ("gpu drain 0x", "GPU indices"),
        ("gpu forget", "no GPUs given"),
        ("gpu slots 0", "takes GPUs and a number"),
        ("gpu slots 0 0", "1 or more"),
        ("gpu slots 0 many", "whole number"),
        ("gpu ignore-process --forget", "no process given"),
        ("gpu ignore-process a b", "takes one process"),
        ("gpu ignore-process a --forget --off", "exclude each other"),
        ("gpu ignore-process 7 --off", "takes the name of a program"),
        ("gpu drain 0 --raeson x", "did you mean --reason?"),
        ("adopt", "no process given"),
        ("adopt python", "not a pid"),
        ("adopt 0", "not a pid"),
        ("adopt 1 2", "no process given"),
        ("adopt 4242 --gpus two", "GPU indices"),
    ],
)
def test_what_is_refused_without_a_controller(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert run_line(line.split()) == 2
    assert said in capfd.readouterr().err


@pytest.mark.parametrize("verb", ["drain", "resume", "forget", "slots", "ignore-process"])
def test_every_gpu_verb_has_help(capfd: pytest.CaptureFixture[str], verb: str) -> None:
    assert run_line(["gpu", verb, "--help"]) == 0
    text = capfd.readouterr().out
    assert run_line(["help", "gpu", verb]) == 0
    assert capfd.readouterr().out == text
    assert text.startswith(f"Usage: tarmac gpu {verb} ")
    assert "Examples" in text
    assert max(map(len, text.splitlines())) <= 80


def test_adopt_prints_only_the_id(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, answer(b'{"id": 12}', "201 Created"), answer(b'{"id": 12}')) as stub:
        assert run_line(["adopt", "4242", "-g", "0-1", "-n", "big"]) == 0
    assert asked(stub)[0] == ("POST /adopt", {"pid": 4242, "gpus": [0, 1], "name": "big"})
    assert capfd.readouterr() == ("12\n", "")
