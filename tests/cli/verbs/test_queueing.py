"""hold, release, move, start, edit, why, queue, reserve: requests, output, and refusals before a request."""

import json
from pathlib import Path
from time import time
from typing import Any

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.render.admin.reservations import in_words, table
from tarmac.cli.render.queue_mode import alarm, mode
from tarmac.cli.verbs.look.why import lines
from tests.cli.stub import answer, asked, serving

NOW = 1_800_000_000.0  # 2027-01-15T08:00:00Z
QUEUE: dict[str, Any] = {
    "paused": False, "draining": False, "by": None, "reason": None, "since": None, "queued": 3, "running": 2,
    "policy": "balance",
    "order": "submitted",
}  # fmt: skip
RESERVATION: dict[str, Any] = {
    "id": 3, "owner": "ann", "node": "n", "gpus": [{"index": n, "uuid": f"GPU-{n}", "name": str(n)} for n in (0, 1)],
    "begins_at": "2027-01-15T07:00:00.000Z", "ends_at": "2027-01-15T10:00:00.000Z", "by": "bob", "active": True,
    "used": False,
}  # fmt: skip


def said(value: object) -> bytes:
    return answer(json.dumps(value).encode())


ANSWERS: dict[str, object] = {
    "hold": {"held": [7], "not_waiting": []},
    "release": {"released": [7], "not_held": []},
    "move": {"position": 1, "priority": 5},
    "start": {"gpus": [{"node": "n", "index": 2, "uuid": "GPU-2", "name": "2"}]},
    "edit": {"id": 7},
    "queue": {**QUEUE, "stopping": [1, 2]},
    "reserve": RESERVATION,
}


@pytest.mark.parametrize(
    ("line", "request_line", "body"),
    [
        ("hold 7 9-12", "POST /jobs/hold", {"ids": ["7", "9-12"]}),
        ("hold --tag sweep", "POST /jobs/hold", {"ids": [], "tag": "sweep"}),
        ("release all --state draft", "POST /jobs/release", {"ids": ["all"], "state": "draft"}),
        ("move 7 3", "POST /jobs/7/move", {"position": 3}),
        ("move 7 first", "POST /jobs/7/move", {"position": 1}),
        ("start 7", "POST /jobs/7/start", {"yes": False, "gpus_on": None}),
        ("start 7 --gpus-on 0,2-3 --yes", "POST /jobs/7/start", {"yes": True, "gpus_on": ["0", "2", "3"]}),
        ("start 7 --gpus-on GPU-ab -y", "POST /jobs/7/start", {"yes": True, "gpus_on": ["GPU-ab"]}),
        ("edit 7 --priority 1 --time 2h", "PATCH /jobs/7", {"priority": 1, "time_limit_s": 7200.0}),
        (
            "edit 7 --time none --begin none --after none --max-running none --name none --project none --tag none",
            "PATCH /jobs/7",
            {"time_limit_s": None, "begin_at": None, "after": [], "max_running": None, "name": None, "project": None}
            | {"tags": []},
        ),
        ("edit 7 --after 3:any --tag a --tag b", "PATCH /jobs/7", {"after": ["3:any"], "tags": ["a", "b"]}),
        ("edit 7 --tier preemptible -n big", "PATCH /jobs/7", {"tier": "preemptible", "name": "big"}),
        ("queue pause", "POST /queue/pause", {"reason": None}),
        ("queue pause -r fan", "POST /queue/pause", {"reason": "fan"}),
        ("queue drain --reason fan", "POST /queue/drain", {"reason": "fan"}),
        ("queue resume", "POST /queue/resume", {}),
        ("queue stop --requeue", "POST /queue/stop", {"requeue": True, "grace_s": None}),
        ("queue stop --requeue --grace 0", "POST /queue/stop", {"requeue": True, "grace_s": 0.0}),
        ("reserve end 3", "POST /reservations/3/end", {}),
    ],
)
def test_what_is_sent(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, request_line: str, body: dict[str, object]
) -> None:
    with serving(socket, said(ANSWERS[line.split(maxsplit=1)[0]])) as stub:
        assert run_line(line.split()) == 0
    assert asked(stub) == [(request_line, body)]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("hold 7 --json", ANSWERS["hold"]),
        ("release 7 --json", ANSWERS["release"]),
        ("move 7 1 --json", {"moved": [{"id": 7, "position": 1, "priority": 5}], "not_waiting": []}),
        ("start 7 --json", [{"id": 7, "gpus": [{"node": "n", "index": 2, "uuid": "GPU-2", "name": "2"}]}]),
        ("edit 7 -p 1 --json", {"edited": [7], "not_waiting": []}),
        ("queue --json", ANSWERS["queue"]),
        ("queue pause --json", ANSWERS["queue"]),
        ("queue resume --json", ANSWERS["queue"]),
        ("queue drain --json", ANSWERS["queue"]),
        ("queue stop --requeue --json", {"stopping": [1, 2]}),
        ("reserve 2 --for 6h --json", RESERVATION),
        ("reserve end 3 --json", {"ended": [3]}),
    ],
)
def test_json_is_the_answer(socket: Path, capfd: pytest.CaptureFixture[str], line: str, value: object) -> None:
    with serving(socket, said(ANSWERS[line.split(maxsplit=1)[0]])):
        assert run_line(line.split()) == 0
    assert json.loads(capfd.readouterr().out) == value


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hold", "no jobs given"),
        ("release", "no jobs given"),
        ("move 7", "takes jobs and a place"),
        ("move first", "takes jobs and a place"),
        ("move 7 0", "1 or more"),
        ("move 7 up", "is not a place"),
        ("start", "no job"),
        ("start 7 --gpus-on 3-1", "ends before it begins"),
        ("edit", "no job"),
        ("edit 7", "no options given"),
        ("edit 7 --time 90", "which unit?"),
        ("edit 7 --tier none", "one of urgent, normal, preemptible"),
        ("queue pasue", "did you mean `tarmac queue pause`?"),
        ("queue python train.py", "`tarmac add`"),
        ("queue pause 7", "unexpected argument '7'"),
        ("queue stop", "`tarmac queue pause`"),
        ("queue stop", "`tarmac queue stop --requeue`"),
        ("queue stop", "`tarmac kill all`"),
        ("reserve 4", "the duration is missing"),
        ("reserve --for 6h", "the number of GPUs is missing"),
        ("reserve four --for 6h", "not a number of GPUs"),
        ("reserve 4 --for 6", "which unit?"),
        ("reserve 4 --from 2020-01-01 --for 6h", "ago"),
        ("reserve end", "no reservation given"),
        ("reserve end 3 --for 6h", "end and --for exclude each other"),
        ("reserve end 3 --list", "end and --list exclude each other"),
        ("reserve 4 --for 6h --list", "--list and --for 4 exclude each other"),
        ("reserve end x", "not the id of a reservation"),
    ],
)
def test_what_is_refused_without_a_controller(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    assert run_line(line.split()) == 2
    assert words in capfd.readouterr().err


def test_jobs_that_are_not_waiting_are_reported(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said({"held": [], "not_waiting": [7, 8]}), said({"held": [], "not_waiting": []})):
        assert run_line(["hold", "7-8"]) == 1
    assert "jobs 7-8 are not waiting" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("others", "words"), [([7], "job 7 is neither held nor a draft"), ([7, 8], "jobs 7-8 are neither held nor drafts")]
)
def test_release_reports_jobs_that_were_not_held(
    socket: Path, capfd: pytest.CaptureFixture[str], others: list[int], words: str
) -> None:
    with serving(socket, said({"released": [], "not_held": others})):
        assert run_line(["release", "7-8"]) == 1
    assert capfd.readouterr().err == f"tarmac: {words}\n"


def test_many_jobs_are_edited_at_once_and_running_ones_are_reported(
    socket: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(socket, said({"edited": [9, 10], "not_waiting": [7, 8]})) as stub:
        assert run_line(["edit", "7-10", "--max-running", "4"]) == 0
    assert asked(stub) == [("POST /jobs/edit", {"ids": ["7-10"], "changes": {"max_running": 4}})]
    assert "jobs 7-8 are not waiting" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("others", "code", "words"), [([7, 8], 2, "jobs 7-8 are not waiting"), ([], 0, "no jobs found")]
)
def test_an_edit_that_changes_no_job_says_so(
    socket: Path, capfd: pytest.CaptureFixture[str], others: list[int], code: int, words: str
) -> None:
    with serving(socket, said({"edited": [], "not_waiting": others})):
        assert run_line(["edit", "7-8", "-p", "4"]) == code
    assert words in capfd.readouterr().err


def test_reserve_prints_only_the_id(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said(RESERVATION)) as stub:
        assert run_line(["reserve", "2", "--from", "in 3h", "--for", "90m", "--user", "ann"]) == 0
    [(request, body)] = asked(stub)
    assert request == "POST /reservations"
    assert isinstance(body, dict)
    assert abs(body.pop("from") - time() - 3 * 3600) < 60
    assert body == {"gpus": 2, "for_s": 5400.0, "user": "ann"}
    assert capfd.readouterr() == ("3\n", "")


def test_reserve_prints_warnings_besides_the_id(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said(RESERVATION | {"warnings": ["GPU 0: held by job 7", "no user \x1b"]})):
        assert run_line(["reserve", "2", "--for", "90m"]) == 0
    assert capfd.readouterr() == ("3\n", "tarmac: GPU 0: held by job 7\ntarmac: no user \\x1b\n")


@pytest.mark.parametrize("line", ["reserve", "reserve --list", "reserve -l"])
def test_reservations_are_listed(socket: Path, capfd: pytest.CaptureFixture[str], line: str) -> None:
    with serving(socket, said({"reservations": [RESERVATION]})) as stub:
        assert run_line(line.split()) == 0
    assert asked(stub) == [("GET /reservations", None)]
    head, row = capfd.readouterr().out.splitlines()
    assert head.split() == ["ID", "STATE", "USER", "GPUS", "FROM", "UNTIL", "BY"]
    assert row.split()[0] == "3"


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "waited for"),
        ({"used": True}, "active"),
        ({"active": False, "begins_at": "2027-01-15T09:00:00.000Z"}, "in 1h00m"),
    ],
)
def test_the_state_of_a_reservation(fields: dict[str, object], state: str) -> None:
    assert f"  {state}  " in table([RESERVATION | fields], width=80, has_colours=False, now=NOW)[1]


def test_a_reserved_gpu_that_is_gone_has_its_uuid() -> None:
    gpus = [
        {"index": 3, "uuid": "GPU-3", "name": "3"},
        {"index": None, "uuid": "GPU-9", "name": "GPU-9"},
    ]
    assert "GPU 3,GPU-9 for ann" in in_words(RESERVATION | {"gpus": gpus}, NOW)


def test_a_reservation_in_words() -> None:
    assert in_words(RESERVATION, NOW).startswith("GPU 0-1 for ann until ")
    assert "from " in in_words(RESERVATION | {"begins_at": "2027-01-15T09:00:00.000Z"}, NOW)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, None),
        ({"paused": True, "by": "ann", "reason": "new\ndriver"}, "paused by ann: new\\ndriver"),
        ({"paused": True, "reason": "10 jobs in a row failed"}, "paused by Tarmac: 10 jobs in a row failed"),
        ({"draining": True, "by": "ann"}, "draining by ann"),
        ({"draining": True, "paused": True, "by": "ann"}, "paused and draining by ann"),
    ],
)
def test_the_mode_of_the_queue_as_text(fields: dict[str, object], words: str | None) -> None:
    assert mode(QUEUE | fields) == words


def test_the_warning_says_what_to_do() -> None:
    assert alarm(QUEUE) == []
    assert alarm(QUEUE | {"paused": True})[-1] == "  no job starts until `tarmac queue resume`"
    assert alarm(QUEUE | {"draining": True})[-1] == "  no new jobs are accepted until `tarmac queue resume`"
    both = alarm(QUEUE | {"paused": True, "draining": True})[-1]
    assert both == "  no job starts and no new jobs are accepted until `tarmac queue resume`"
    narrow = alarm(QUEUE | {"paused": True, "reason": "a new driver " * 10}, 50)
    assert len(narrow) > 3
    assert all(len(line) <= 50 for line in narrow)


def test_queue_alone_shows_its_mode(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said(QUEUE | {"paused": True, "by": "ann", "since": "2020-01-01T10:00:00.000Z"})):
        assert run_line(["queue"]) == 0
    first, *rest = capfd.readouterr().out.splitlines()
    assert first.startswith("queue   paused since 2020-01-01 ")
    assert rest == ["jobs    2 running, 3 queued", "policy  balance", "order   submitted"]


SUSPENDED = {"owner": "ann", "reason": "the last 3 jobs of ann failed", "since": "2020-01-01T10:00:00.000Z"}


def test_suspended_users_keep_the_facts_aligned(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said(QUEUE | {"suspended": [SUSPENDED]})):
        assert run_line(["queue"]) == 0
    assert capfd.readouterr().out.splitlines()[:3] == [
        "queue      open",
        "suspended  ann: the last 3 jobs of ann failed",
        "jobs       2 running, 3 queued",
    ]


def test_the_warning_about_a_suspended_user_names_who_can_resume() -> None:
    _, remedy = alarm(QUEUE | {"suspended": [SUSPENDED]})
    assert remedy == "  once the cause is fixed, ann or an admin can run `tarmac queue resume --owner ann`"


@pytest.mark.parametrize(
    ("fields", "said_to_ann"),
    [
        ({"draining": True}, "your jobs start again"),
        ({}, "jobs are accepted and started again"),
        ({"paused": True}, "once the queue does"),
    ],
)
def test_a_draining_queue_starts_the_jobs_of_a_resumed_user(
    socket: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, object], said_to_ann: str
) -> None:
    printed: list[str] = []
    monkeypatch.setattr("tarmac.cli.verbs.admin.queue.resume.say", printed.append)
    with serving(socket, said(QUEUE | fields)):
        assert run_line(["queue", "resume"]) == 0
    assert said_to_ann in printed[0]


@pytest.mark.parametrize("verb", ["pause", "resume", "drain", "stop"])
def test_every_queue_verb_has_help(capfd: pytest.CaptureFixture[str], verb: str) -> None:
    assert run_line(["queue", verb, "--help"]) == 0
    text = capfd.readouterr().out
    assert text.startswith(f"Usage: tarmac queue {verb}")
    assert "Examples" in text
    assert max(map(len, text.splitlines())) <= 80


def test_why_prints_the_sentences_of_the_controller(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(
        socket, said({"lines": ["Job 7 waits", "  GPU 0: \x1b[2J"]}), said({"lines": ["Job 8 waits"]})
    ) as stub:
        assert run_line(["why", "7", "8"]) == 0
    assert [request for request, _ in asked(stub)] == ["GET /jobs/7/why", "GET /jobs/8/why"]
    assert capfd.readouterr() == ("Job 7 waits\n  GPU 0: \\x1b[2J\n\nJob 8 waits\n", "")


def test_why_wraps_long_lines() -> None:
    long = "  GPU 1: " + "18.0 G of 48.0 G free, 30.0 G asked " * 3
    text = lines({"lines": ["Job 7 waits", long.rstrip()]}, width=60, has_colours=False)
    assert all(len(line) <= 60 for line in text)
    assert text[2].startswith("    ")
    assert " ".join(" ".join(text[1:]).split()) == " ".join(long.split())


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["tag", "7", "+x,y"], "tag: a tag is wrong: it has a comma; give each tag on its own"),
        (["tag", "7", "+"], "tag: a tag is wrong: it is empty"),
        (["tag", "7", "--add", ""], "--add '': it is empty"),
        (["edit", "7", "--tag", "a,b"], "--tag a,b: it has a comma"),
        (["edit", "7", "--env", "A B=1"], "is not the name of a variable"),
        (["edit", "7", "-c", " "], "edit: the shell string is empty"),
        (["edit", "7", "--nice", "99"], "--nice 99: it must be from 0 to 19"),
        (["add", "--template", "", "true"], "'' is not a name for a template"),
        (["template", "save", "../x", "7"], "'../x' is not a name for a template"),
        (["edit", "7", "--tier", "preemptable"], "urgent, normal, preemptible; did you mean preemptible?"),
        (["add", "--on-oom", "grwo", "true"], "it must be one of fail, retry, grow; did you mean grow?"),
        (["add", "--retry-on", "omm,exit,tineout", "true"], "separated by commas; did you mean oom,timeout?"),
        (["add", "--on", "strat", "true"], "did you mean start?"),
        (["add", "--tier", "x", "true"], "it must be one of urgent, normal, preemptible\n"),
        (["rename", "7", "x" * 5000], "rename: the name is wrong: it has 5,000 characters; choose a shorter text"),
    ],
)
def test_labels_and_variables_that_no_list_can_show_are_refused(
    argv: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_line(argv) == 2
    assert message in capfd.readouterr().err


def test_a_note_is_printed_with_its_lines(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(socket, said({"id": 7, "note": "one\ntwo\x1b[2J"})):
        assert run_line(["note", "7"]) == 0
    assert capfd.readouterr().out == "one\ntwo\\x1b[2J\n"


@pytest.mark.parametrize(
    ("verb", "reply"),
    [
        ("hold", {"held": [], "not_waiting": [7]}),
        ("release", {"released": [], "not_held": [7]}),
        ("retry", {"retried": [], "not_retried": [{"id": 7, "reason": "job 7 runs"}], "notice": None}),
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_nothing_done_has_an_exit_code(socket: Path, verb: str, reply: dict[str, object], more: list[str]) -> None:
    with serving(socket, said(reply)):
        assert run_line([verb, "7", *more]) == 1
