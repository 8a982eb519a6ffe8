"""A batch from its file to the submit, and what is refused before it is sent."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tests.cli.stub import answer, asked, serving

OK = answer(b'{"ids": [7, 8]}', "201 Created")


def sent(socket: Path, *argv: str, reply: bytes = OK) -> dict[str, Any]:
    with serving(socket, reply) as stub:
        assert run_line(["add", *argv]) == 0
    [(_, body)] = asked(stub)
    assert isinstance(body, dict)
    return body


def refused(capfd: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    assert run_line(["add", *argv]) == 2
    return capfd.readouterr().err.splitlines()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "jobs.txt"


def test_all_lines_are_one_submit_and_one_group(socket: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text("# two jobs\npython a.py 'x y'\n\nb\n")
    body = sent(socket, "--batch", "jobs.txt")
    assert body["group"] == {"kind": "batch", "name": "jobs.txt"}
    assert [job["command"] for job in body["jobs"]] == [["python", "a.py", "x y"], ["b"]]
    assert capfd.readouterr().out == "7-8\n"


@pytest.mark.parametrize("argv", [["--batch", "jobs.txt"], ["--array", "0-1", "true"]])
def test_a_group_is_named(socket: Path, file: Path, argv: list[str]) -> None:
    file.write_text("a\n")
    assert sent(socket, "--group", "mine", "-n", "x", *argv)["group"]["name"] == "mine"


def test_options_of_the_command_line_are_defaults_of_every_line(socket: Path, file: Path) -> None:
    file.write_text("command,gpus,tag,time,requeue\na,,,,\nb,0,y,2h,false\n")
    body = sent(socket, "-g", "2", "--tag", "x", "--time", "6h", "--requeue", "--gpu-mem", "8G", "--batch", "jobs.txt")
    first, second = body["jobs"]
    assert {name: first[name] for name in ("gpus", "tags", "time_limit_s", "gpu_memory_bytes", "requeue")} == {
        "gpus": 2, "tags": ["x"], "time_limit_s": 21600, "gpu_memory_bytes": 8 << 30, "requeue": True,
    }  # fmt: skip
    assert (second["gpus"], second["tags"], second["time_limit_s"]) == (0, ["y"], 7200)
    assert not {"gpu_memory_bytes", "requeue"} & set(second)


def test_none_in_a_cell_drops_a_default(socket: Path, file: Path) -> None:
    file.write_text("command,time,tag\na,none,none\n")
    [job] = sent(socket, "--time", "6h", "--tag", "x", "--batch", "jobs.txt")["jobs"]
    assert not {"time_limit_s", "tags"} & set(job)


def test_a_command_on_the_command_line_serves_rows_without_one(socket: Path, file: Path) -> None:
    file.write_text("command,env\n,A=1\nb,A=2\n")
    first, second = sent(socket, "--batch", "jobs.txt", "python", "a.py")["jobs"]
    assert (first["command"], first["env"]) == (["python", "a.py"], ["A=1"])
    assert (second["command"], second["env"]) == (["b"], ["A=2"])


@pytest.mark.parametrize("command", [["echo", "hi"], ["--dry-run", "echo", "hi"], ["-c", "echo hi"]])
@pytest.mark.parametrize("content", ["a\nb\n", "command,gpus\na,0\n", '{"shell": "a"}\n', "n;;out.log;;a\n"])
def test_a_command_that_no_line_uses_is_refused(
    file: Path, capfd: pytest.CaptureFixture[str], command: list[str], content: str
) -> None:
    file.write_text(content)
    first, hint = refused(capfd, "--batch", "jobs.txt", *command)
    assert "every job of the file has a command" in first
    assert "give a file or a command, not both" in hint


def test_gpupeasys_records(socket: Path, file: Path) -> None:
    file.write_text("big;;out.log;;python -u 'a b.py'\n")
    [job] = sent(socket, "--batch", "jobs.txt")["jobs"]
    assert (job["name"], job["log"], job["command"]) == (
        "big",
        str(file.parent / "out.log"),
        ["python", "-u", "a b.py"],
    )


def test_json_lines_with_values_of_every_kind(socket: Path, file: Path) -> None:
    lines = [
        {"command": ["a", "b"], "gpus": 2, "time": "6h", "tag": ["x", "y"], "fill": True, "notify": ["mail", "slack"]},
        {"shell": "a | b", "time_limit_s": 60, "gpus_on": [0, 1], "signal": ["USR1", "USR2@60"], "tags": ["z"]},
    ]
    file.with_suffix(".jsonl").write_text("\n".join(map(json.dumps, lines)))
    first, second = sent(socket, "--batch", "jobs.jsonl")["jobs"]
    expected = {"gpus": 2, "time_limit_s": 21600, "tags": ["x", "y"], "fill": True, "notify": ["mail", "slack"]}
    assert expected.items() <= first.items()
    expected = {"shell": "a | b", "time_limit_s": 60, "gpus_on": [0, 1], "signal": 10, "warn": "USR2@60", "tags": ["z"]}
    assert expected.items() <= second.items()


@pytest.mark.parametrize(
    ("data", "commands"),
    [
        (b"a 1\r\nb\r\n", [["a", "1"], ["b"]]),
        (b"\xef\xbb\xbfa 1\nb", [["a", "1"], ["b"]]),
        ("训练 'é'\n".encode(), [["训练", "é"]]),
    ],
)
def test_line_ends_byte_order_marks_and_a_missing_newline(
    socket: Path, file: Path, data: bytes, commands: list[list[str]]
) -> None:
    file.write_bytes(data)
    assert [job["command"] for job in sent(socket, "--batch", "jobs.txt")["jobs"]] == commands


def test_stdin(socket: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert sent(socket, "--batch", "-")["group"] == {"kind": "batch", "name": None}


def test_every_mistake_is_listed_with_its_place(socket: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(
        "command,gpus,time,fill\npython a.py,two,6,\necho 'a,1,6h,maybe\n,1,,\nok,0,,\n,,,\n",
    )
    assert refused(capfd, "--batch", "jobs.txt") == [
        "tarmac: add: jobs.txt has 6 mistakes; nothing was queued",
        "  jobs.txt:2:13: gpus two: it must be a whole number",
        "  jobs.txt:2:17: time 6: which unit? 6m is minutes, 6h hours, 6s seconds",
        "  jobs.txt:3:6: the quote ' is not closed",
        "  jobs.txt:3:14: fill maybe: it must be true or false",
        "  jobs.txt:4:1: it has no command; name one in `command` or `shell`",
        "  jobs.txt:6:1: it has no command; name one in `command` or `shell`",
    ]


def test_only_the_first_of_many_mistakes_are_shown(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text("'\n" * 1000)
    lines = refused(capfd, "--batch", "jobs.txt")
    assert lines[0] == "tarmac: add: jobs.txt has 1,000 mistakes; nothing was queued"
    assert lines[-1] == "  … and 980 more"
    assert len(lines) == 22


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ok\na \xe9\n", "jobs.txt:2:3: byte 0xe9 is not UTF-8; nothing was queued"),
        ("ok\n".encode("utf-16"), "jobs.txt is UTF-16"),
        (b"\n# nothing\n", "jobs.txt has no jobs"),
        (b"", "jobs.txt has no jobs"),
        (b"A=1 python x\n", "jobs.txt:1:1: A= needs a shell; set the variable with env or --env"),
        (b"a \\\n b\n", "jobs.txt:1:3: the line ends with a backslash"),
    ],
)
def test_files_that_cannot_be_used(file: Path, data: bytes, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(data)
    assert message in "\n".join(refused(capfd, "--batch", "jobs.txt"))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--batch", "nowhere.csv"], "nowhere.csv cannot be read: No such file or directory"),
        (["--batch", "."], ". cannot be read: Is a directory"),
        (["--batch-format", "csv", "a"], "--batch-format needs --batch"),
        (
            ["--batch", "x", "--batch-format", "cvs"],
            "jsonl, gpupeasy; did you mean csv?",
        ),
        (["--batch", "x", "--array", "0-3"], "--batch and --array exclude each other"),
        (["--batch", "x", "--batch", "y"], "--batch is given twice"),
        (["--group", "g", "true"], "--group needs --array or --batch"),
    ],
)
def test_arguments_that_are_refused(
    file: Path, argv: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert message in "\n".join(refused(capfd, *argv))


def test_what_the_controller_refuses_is_placed_in_the_file(
    socket: Path, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file.write_text("command,gpus\na,1\nb,9\nc,1\n")
    jobs = [
        {"index": 1, "key": "infeasible.too_few_gpus", "message": "requested 9 GPUs", "hint": "request fewer"},
        {"index": 2, "key": "submit.other", "message": "not like this", "hint": None},
    ]
    error = {"code": "refused", "key": "x", "message": "requested 9 GPUs", "hint": None, "jobs": jobs}
    with serving(socket, answer(json.dumps({"error": error}).encode(), "400 Bad Request")):
        lines = refused(capfd, "--batch", "jobs.txt")
    assert lines[1:] == ["  jobs.txt:3:3: requested 9 GPUs; request fewer", "  jobs.txt:4:1: not like this"]


@pytest.mark.parametrize(
    ("header", "cell", "key", "status"),
    [
        ("cwd", "/nowhere", "submit.cwd_not_a_directory", "400 Bad Request"),
        ("log", "/nowhere/x", "submit.log_no_directory", "400 Bad Request"),
        ("after", "99", "after.unknown", "404 Not Found"),
        ("notify", "ann", "notify.unknown", "400 Bad Request"),
    ],
)
def test_the_refusal_of_a_single_job_is_placed_too(
    socket: Path, file: Path, capfd: pytest.CaptureFixture[str], header: str, cell: str, key: str, status: str
) -> None:
    file.write_text(f"command,{header}\nabc,{cell}\n")
    error = {"code": "refused" if "400" in status else "not_found", "key": key, "message": "no", "hint": "yes"}
    with serving(socket, answer(json.dumps({"error": error}).encode(), status)):
        assert refused(capfd, "--batch", "jobs.txt")[1:] == ["  jobs.txt:2:5: no; yes"]


def test_options_of_the_whole_batch_are_told_apart_from_unknown_ones(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file.write_text("command,hold\na,true\n")
    message = "hold applies to all jobs of the batch; give --hold on the command line"
    assert refused(capfd, "--batch", "jobs.txt", "--batch-format", "csv")[1:] == [f"  jobs.txt:1:9: {message}"]
    file.with_suffix(".jsonl").write_text('{"command": "a", "hold": true}\n')
    assert refused(capfd, "--batch", "jobs.jsonl")[1:] == [f"  jobs.jsonl:1:26: {message}"]


def test_objects_and_numbers_in_json(socket: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    jsonl = file.with_suffix(".jsonl")
    jsonl.write_text('{"command": ["echo", 1, 1e-3], "env": {"A": "x=y", "B": 2.50, "C": true}}\n')
    [job] = sent(socket, "--batch", "jobs.jsonl")["jobs"]
    assert (job["command"], job["env"]) == (["echo", "1", "1e-3"], ["A=x=y", "B=2.50", "C=true"])
    capfd.readouterr()
    jsonl.write_text('{"command": "a", "gpus": true}\n{"command": "a", "env": {"A": [1]}}\n{"command": ["a", null]}\n')
    assert refused(capfd, "--batch", "jobs.jsonl")[1:] == [
        "  jobs.jsonl:1:26: gpus must be a whole number",
        "  jobs.jsonl:2:25: env must be a list of NAME=VALUE",
        "  jobs.jsonl:3:13: command must be text or a list of texts and numbers",
    ]


CHECKED = answer(b'{"ids": []}')
DRY = ("--batch", "jobs.txt", "--dry-run")


def test_a_dry_run_shows_how_each_line_is_read(socket: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text('command,gpus\n"a ""b c""",2\n\nd,\n')
    assert sent(socket, *DRY, reply=CHECKED)["dry_run"] is True
    assert capfd.readouterr().out == "2  a 'b c'  (gpus 2)\n4  d\n"


def test_a_dry_run_as_json(socket: Path, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text('command,gpus\n"a ""b c""",2\n')
    sent(socket, *DRY, "--json", reply=CHECKED)
    assert json.loads(capfd.readouterr().out) == [{"line": 2, "command": ["a", "b c"], "gpus": 2}]


def test_after_last_asks_once(socket: Path, file: Path) -> None:
    file.write_text("command,after\na,last\nb,last\nc,3:any\n")
    newest = answer(b'{"jobs": [{"id": 41}], "next": null}')
    with serving(socket, newest, OK) as stub:
        assert run_line(["add", "--batch", "jobs.txt"]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    assert [job["after"] for job in body["jobs"]] == [["41:ok"], ["41:ok"], ["3:any"]]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("b.csv", "gpus,time\n1,2h\n", "b.csv:2:1: it has no command; name one in `command` or `shell`"),
        ("b.jsonl", '{"gpus": 1}\n', "b.jsonl:1:1: it has no command"),
        ("b.txt", "name;;out.txt\n", "b.txt:1:5: ; needs a shell"),
        ("b.txt", "name;;out.txt\n", "a line for GPUPeasy is name;;outfile;;command"),
    ],
)
def test_a_file_without_commands_is_told_what_is_missing(
    socket: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    with serving(socket):
        assert run_line(["add", "--batch", str(tmp_path / name)]) == 2
    assert said in capfd.readouterr().err
