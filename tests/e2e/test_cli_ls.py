import json
import re
import subprocess

import pytest

from tests.home import BIN, Home, until
from tests.terminal import Terminal

FIELDS = (
    "id name owner project tags state reason exit_code signal attempt priority tier gpus_asked gpus node command cwd "
    "submitted_at started_at ended_at estimated_start progress peak_gpu_memory_bytes log_path group after"
)


TIMES = re.compile(r" +\d+[smh]\d*[sm]?\b")  # how long jobs have run may differ


@pytest.fixture(scope="module")
def busy_home(shared_home: Home) -> Home:
    """Job 1 failed, 2-13 succeeded, 14 runs on both GPUs, 15 waits."""
    shared_home.add("-c", "exit 3")
    for _ in range(12):
        shared_home.add("--tag", "sweep", "-n", "quick", "true")
    shared_home.tarmac("wait", "1-13")
    shared_home.add("-g", "2", "-n", "训练", "sleep", "600")
    shared_home.add("-p", "3", "echo", "two\nlines")
    assert until(lambda: shared_home.client().job(14).state == "running")
    return shared_home


def ids(home: Home, *words: str) -> list[int]:
    return [int(line.split()[0]) for line in home.tarmac("ls", *words).stdout.splitlines()[1:]]


def test_ls_shows_active_jobs_and_the_last_ten_ended(busy_home: Home) -> None:
    assert ids(busy_home) == [14, 15, *range(13, 3, -1)]


def test_bare_tarmac_is_ls(busy_home: Home) -> None:
    bare, listed = (busy_home.tarmac(*words).stdout for words in ((), ("ls",)))
    assert TIMES.sub("", bare) == TIMES.sub("", listed)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-a"], [14, 15, *range(13, 0, -1)]),
        (["-n", "2"], [14, 15, 13, 12]),
        (["-an2"], [14, 15]),
        (["3-5", "1"], [5, 4, 3, 1]),
        (["3,4"], [4, 3]),
        (["last"], [15]),
        (["--state", "failed"], [1]),
        (["--state", "running,queued"], [14, 15]),
        (["--state", "active"], [14, 15]),
        (["--name", "训*"], [14]),
        (["--tag", "sweep", "-n", "1"], [13]),
        (["--owner", "nobody-of-that-name"], []),
    ],
)
def test_ls_selects_by_ids_and_filters(busy_home: Home, words: list[str], expected: list[int]) -> None:
    assert ids(busy_home, *words) == expected


def test_json_is_every_job_with_every_field(busy_home: Home) -> None:
    jobs = json.loads(busy_home.tarmac("ls", "--json").stdout)
    assert [job["id"] for job in jobs] == list(range(1, 16))
    assert set(FIELDS.split()) <= set(jobs[0])
    assert [(gpu["index"], bool(gpu["uuid"])) for gpu in jobs[13]["gpus"]] == [(0, True), (1, True)]
    assert (jobs[0]["state"], jobs[0]["reason"], jobs[0]["exit_code"]) == ("failed", "exit", 3)


def test_without_a_terminal_nothing_is_coloured_or_cut(busy_home: Home) -> None:
    printed = busy_home.tarmac("ls").stdout
    assert "\x1b" not in printed
    assert r"echo $'two\nlines'" in printed


def test_a_terminal_has_colours_unless_disabled(busy_home: Home) -> None:
    with Terminal(busy_home, "ls") as coloured:
        coloured.ends()
        assert "\x1b[32mrunning" in coloured.text
    with Terminal(busy_home, "ls", NO_COLOR="1") as plain:
        plain.ends()
        assert "running" in plain.text
        assert "\x1b" not in plain.text


@pytest.mark.parametrize("columns", [40, 80])
def test_the_table_fits_the_terminal(busy_home: Home, columns: int) -> None:
    with Terminal(busy_home, "ls", columns=columns, NO_COLOR="1") as terminal:
        terminal.ends()
        assert all(len(line) <= columns for line in terminal.text.splitlines())


def test_a_closed_pipe_ends_it_quietly(busy_home: Home) -> None:
    script = f"{BIN / 'tarmac'} ls -a | head -n 1"
    done = subprocess.run(["sh", "-c", script], env=busy_home.environment, capture_output=True, check=True, timeout=60)
    assert done.stdout.startswith(b"ID")
    assert done.stderr == b""


def test_an_empty_queue_says_what_to_type(home: Home) -> None:
    done = home.tarmac()
    assert (done.returncode, done.stdout) == (0, "")
    assert "tarmac add" in done.stderr
    assert json.loads(home.tarmac("ls", "--json").stdout) == []


def test_watching_shows_changes_and_restores_the_cursor(home: Home) -> None:
    with Terminal(home, "ls", "-w") as terminal:
        assert terminal.sees("0 running, 0 queued")
        home.add("-n", "newcomer", "sleep", "600")
        assert terminal.sees("newcomer")
        assert terminal.sees("1 running")
        terminal.type(b"\x03")
        assert terminal.ends() == 130
        assert terminal.text.count("\x1b[?25l") == terminal.text.count("\x1b[?25h") == 1
        assert "Traceback" not in terminal.text


def test_watching_needs_a_terminal(busy_home: Home) -> None:
    done = busy_home.tarmac("ls", "-w")
    assert done.returncode == 2
    assert "-w" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["99999"], 3, "99999"),
        (["seven"], 2, "not a job id"),
        (["5-2"], 2, "range"),
        (["--state", "sleeping"], 2, "sleeping"),
        (["--sate", "failed"], 2, "did you mean --state?"),
    ],
)
def test_bad_selections(busy_home: Home, words: list[str], code: int, said: str) -> None:
    done = busy_home.tarmac("ls", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
