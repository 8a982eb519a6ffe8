import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.home import BIN, Home, until
from tests.terminal import Terminal


def a_job(home: Home, *words: str) -> dict[str, object]:
    """Run a job; returns it after its end."""
    number = home.add(*words)
    home.tarmac("wait", str(number))
    (found,) = json.loads(home.tarmac("show", str(number), "--json").stdout)
    return found


def output(home: Home, *words: str, **options: object) -> str:
    done = home.tarmac("run", *words, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_the_id_is_on_stdout(shared_home: Home) -> None:
    done = shared_home.tarmac("add", "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{int(done.stdout)}\n"


def test_on_a_terminal_the_next_command_is_suggested(shared_home: Home) -> None:
    with Terminal(shared_home, "add", "true") as terminal:
        assert terminal.ends() == 0
        assert "tarmac log -f" in terminal.text


def test_json_has_the_id(shared_home: Home) -> None:
    assert json.loads(shared_home.tarmac("add", "--json", "true").stdout)["id"] > 0


def test_two_first_commands_at_once_start_one_controller(home: Home) -> None:
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(lambda _: home.tarmac("add", "true"), range(4)))
    assert sorted(int(each.stdout) for each in done) == [1, 2, 3, 4]
    assert until(lambda: _controllers(home) == 1, 5), home.processes()


def _controllers(home: Home) -> int:
    return sum("-m tarmac.controller" in command for command in home.processes().values())


def test_the_command_gets_its_own_options(shared_home: Home) -> None:
    assert output(shared_home, "-g", "0", "echo", "-g", "7", "--json", "--", "x") == "-g 7 --json -- x\n"


def test_a_shell_string_runs_in_a_shell(shared_home: Home) -> None:
    assert output(shared_home, "-c", "echo a && echo $((1+1))") == "a\n2\n"


def test_the_job_has_the_directory_umask_and_environment_of_its_submitter(shared_home: Home, tmp_path: Path) -> None:
    script = "pwd; umask; echo $FLAVOUR"
    said = output(shared_home, "-c", script, cwd=tmp_path, env={"FLAVOUR": "数 据"}, umask=0o027)
    assert said == f"{tmp_path}\n0027\n数 据\n"


def test_relative_paths_are_relative_to_the_submitter(shared_home: Home, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    done = shared_home.tarmac("run", "--cwd", "work", "--log", "../out.log", "-c", "pwd; echo x >&2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.log").read_text() == f"{tmp_path}/work\nx\n"


def test_stdout_and_stderr_may_be_separate(shared_home: Home, tmp_path: Path) -> None:
    number = shared_home.add("--stdout", f"{tmp_path}/o", "--stderr", f"{tmp_path}/e", "-c", "echo out; echo err >&2")
    shared_home.tarmac("wait", str(number))
    assert (tmp_path / "o").read_text() == "out\n"
    assert (tmp_path / "e").read_text() == "err\n"
    assert shared_home.tarmac("log", "--stderr", str(number)).stdout == "err\n"


def test_an_existing_log_is_appended_to_only_when_asked(shared_home: Home, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("before\n")
    refused = shared_home.tarmac("add", "--log", "log", "echo", "x", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--append" in refused.stderr
    assert shared_home.tarmac("run", "--log", "log", "--append", "echo", "after", cwd=tmp_path).stdout == "after\n"
    assert (tmp_path / "log").read_text() == "before\nafter\n"


@pytest.mark.parametrize("name", ["two\nlines", 'it\'s "quoted"', "🚀 数据", "-g", " spaces ", "\x1b[31mred"])
def test_a_name_may_be_anything(shared_home: Home, name: str) -> None:
    number = shared_home.add(f"--name={name}", "true")
    listed = json.loads(shared_home.tarmac("ls", "--json", str(number)).stdout)
    assert listed[0]["name"] == name
    shown = shared_home.tarmac("ls", str(number)).stdout
    assert len(shown.splitlines()) == 2
    assert "\x1b" not in shown


def test_a_hundred_kilobytes_of_arguments_arrive_whole(shared_home: Home) -> None:
    words = [f"argument-{number}-{'x' * 80}" for number in range(1000)]
    assert output(shared_home, "printf", "%s\\n", *words).split() == words


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "the command is empty"),
        (("--",), 2, "the command is empty"),
        (("",), 2, "the command is empty"),
        (("-c", "  "), 2, "the shell string is empty"),
        (("-c", "true", "true"), 2, "got a shell string and a command"),
        (("--gpu", "1", "true"), 2, "did you mean --gpus?"),
        (("-g", "-1", "true"), 2, "0 or more"),
        (("-g", "two", "true"), 2, "whole number"),
        (("-g", "99", "true"), 2, "99"),
        (("--grace", "-1", "true"), 2, "must be a duration"),
        (("--cwd", "/no/such/folder", "true"), 2, "/no/such/folder"),
        (("--log", "/no/such/folder/log", "true"), 2, "/no/such/folder"),
        (("--log", "a", "--stdout", "b", "true"), 2, "log"),
    ],
)
def test_invalid_requests_are_refused_at_once(shared_home: Home, words: tuple[str, ...], code: int, said: str) -> None:
    done = shared_home.tarmac("add", *words)
    assert (done.returncode, done.stdout) == (code, "")
    first, *hint = done.stderr.splitlines()
    assert first.startswith("tarmac: ")
    assert said in done.stderr
    assert hint, "a refusal says what to do next"


def test_a_command_that_is_not_utf8_is_refused(shared_home: Home) -> None:
    done = shared_home.tarmac("add", "echo", os.fsdecode(b"caf\xe9"))
    assert done.returncode == 2
    assert "not UTF-8: caf\\udce9" in done.stderr


def test_a_variable_that_is_not_utf8_is_left_out_and_named(shared_home: Home) -> None:
    done = shared_home.tarmac("run", "-c", 'echo "[$LATIN]"', env={"LATIN": os.fsdecode(b"caf\xe9")})
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert "LATIN is not UTF-8" in done.stderr


def test_a_missing_directory_is_named(shared_home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shared_home.tarmac("add", "true", cwd=gone, preexec_fn=gone.rmdir)
    assert done.returncode == 2
    assert "no longer exists" in done.stderr


def test_a_program_that_does_not_exist_fails_to_launch(shared_home: Home) -> None:
    job = a_job(shared_home, "/no/such/program")
    assert (job["state"], job["reason"], job["exit_code"]) == ("failed", "launch", None)
    shown = shared_home.tarmac("show", str(job["id"])).stdout
    assert "failed (launch)" in shown
    assert "/no/such/program" in str(job["message"])


def test_a_file_that_is_not_a_program_fails_to_launch(shared_home: Home, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    job = a_job(shared_home, f"{tmp_path}/train.py")
    assert (job["state"], job["reason"]) == ("failed", "launch")
    assert "execut" in str(job["message"])


def test_a_log_that_cannot_be_created_fails_to_launch(shared_home: Home) -> None:
    job = a_job(
        shared_home, "--log", "/proc/log", "true"
    )  # no permission check can detect this in advance, even for root
    assert (job["state"], job["reason"]) == ("failed", "launch")
    assert "/proc/log" in str(job["message"])


def test_closed_streams_are_tolerated(shared_home: Home) -> None:
    before = len(json.loads(shared_home.tarmac("ls", "--json").stdout))
    script = f"exec {BIN / 'tarmac'} add true <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], env=shared_home.environment, check=False).returncode == 0
    assert len(json.loads(shared_home.tarmac("ls", "--json").stdout)) == before + 1


def test_an_id_that_cannot_be_printed_is_reported_on_stderr(shared_home: Home) -> None:
    with open("/dev/full", "wb") as full:
        done = shared_home.tarmac("add", "true", capture_output=False, stdout=full, stderr=-1)
    assert done.returncode != 0
    assert "is queued" in done.stderr
