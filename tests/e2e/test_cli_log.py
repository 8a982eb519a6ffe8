import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.home import BIN, Home, is_connected, until
from tests.terminal import Terminal


def raw(home: Home, *words: str) -> bytes:
    done = home.tarmac("log", *words, text=False, encoding=None)
    assert done.returncode == 0, done.stderr
    return bytes(done.stdout)


def finished(home: Home, *words: str) -> str:
    number = str(home.add(*words))
    home.tarmac("wait", number)
    return number


def test_invalid_utf8_is_printed_unchanged(shared_home: Home) -> None:
    number = finished(shared_home, "printf", "\\377\\376caf\\351\\n\\000")
    assert raw(shared_home, number) == b"\xff\xfecaf\xe9\n"
    assert raw(shared_home, "--raw", number) == b"\xff\xfecaf\xe9\n\0"


def test_the_last_lines(shared_home: Home) -> None:
    number = finished(shared_home, "seq", "1000")
    assert raw(shared_home, "-n", "3", number) == b"998\n999\n1000\n"
    assert raw(shared_home, "-n3", number) == b"998\n999\n1000\n"
    assert raw(shared_home, "-n0", number) == b""


def test_without_an_id_it_is_the_newest_job(shared_home: Home) -> None:
    finished(shared_home, "echo", "newest")
    assert raw(shared_home) == b"newest\n"
    assert raw(shared_home, "last") == b"newest\n"


def test_several_logs_have_headings(shared_home: Home) -> None:
    first, second = finished(shared_home, "echo", "a"), finished(shared_home, "echo", "b")
    assert raw(shared_home, first, second).decode() == f"==> job {first} <==\na\n\n==> job {second} <==\nb\n"


def test_following_several_is_refused(shared_home: Home) -> None:
    first, second = finished(shared_home, "echo", "a"), finished(shared_home, "echo", "b")
    done = shared_home.tarmac("log", "-f", first, second)
    assert done.returncode == 2
    assert "follows one job at a time" in done.stderr


def test_follow_continues_until_the_job_has_ended(home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    number = home.add("-c", f"echo first; while [ ! -e {gate} ]; do sleep 0.02; done; echo second")
    following = home.start("log", "-f", str(number))
    assert following.stdout is not None
    assert following.stdout.readline() == b"first\n"
    gate.touch()
    assert following.communicate(timeout=60) == (b"second\n", b"")
    assert following.returncode == 0


def test_follow_waits_for_a_job_that_has_not_started(home: Home) -> None:
    blocker = home.add("-g", "2", "sleep", "600")
    number = home.add("echo", "at last")
    following = home.start("log", "-f", str(number))
    assert until(lambda: is_connected(following.pid))
    home.tarmac("kill", str(blocker))
    assert following.communicate(timeout=60) == (b"at last\n", b"")


def test_follow_repeats_and_loses_nothing_when_the_controller_restarts(home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    number = home.add("-c", f"seq 1000; while [ ! -e {gate} ]; do sleep 0.02; done; seq 1001 2000")
    following = home.start("log", "-f", str(number))
    assert following.stdout is not None
    before = [following.stdout.readline() for _ in range(1000)]
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    gate.touch()
    after = following.communicate(timeout=60)[0].splitlines(keepends=True)
    assert before + after == [f"{line}\n".encode() for line in range(1, 2001)]


def test_a_gigabyte_in_one_line_can_be_printed(home: Home) -> None:
    number = finished(home, "-c", "truncate -s 1G /proc/self/fd/1")
    looking = home.start("log", "--raw", number)
    assert looking.stdout is not None
    assert looking.stdout.read(10) == bytes(10)
    looking.stdout.close()
    assert looking.wait(20) == -signal.SIGPIPE
    assert looking.stderr is not None
    looking.stderr.close()
    tail = home.start("log", "--raw", "-n", "1", number)
    assert tail.stdout is not None
    assert tail.stdout.read(10) == bytes(10)
    tail.kill()
    tail.communicate()


def test_a_line_that_is_too_long_is_reported_as_cut(home: Home) -> None:
    number = finished(home, "-c", "truncate -s 65M /proc/self/fd/1")
    cut = home.tarmac("log", "--raw", "-n", "1", number, text=False, encoding=None)
    assert (cut.returncode, len(cut.stdout)) == (0, 64 << 20)
    assert b"stopped searching for earlier lines" in bytes(cut.stderr)
    assert home.tarmac("log", "-n", "0", number).stderr == ""


def test_removed_output_is_reported(home: Home) -> None:
    number = str(home.add("-c", "echo begun; exec sleep 600"))
    following = home.start("log", "-f", number)
    assert following.stdout is not None
    assert following.stdout.readline() == b"begun\n"
    (home.path / "logs" / f"{number}.1.log").unlink()
    said = following.communicate(timeout=60)[1]
    assert following.returncode == 3
    assert b"is missing" in said
    assert "is missing" in home.tarmac("log", "-f", number).stderr
    home.tarmac("kill", number)
    home.tarmac("wait", number)
    assert home.tarmac("log", "-f", number).returncode == 3


def test_truncated_output_is_followed_from_its_new_beginning(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    number = str(home.add("-c", f"echo a long line at first; until [ -e {go} ]; do sleep 0.05; done; echo new"))
    following = home.start("log", "-f", number)
    assert following.stdout is not None
    assert following.stdout.readline() == b"a long line at first\n"
    os.truncate(home.path / "logs" / f"{number}.1.log", 0)
    go.touch()
    assert following.communicate(timeout=60)[0] == b"new\n"


def test_run_reports_the_end_of_a_job_whose_output_was_removed(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    running = home.start("run", "-c", f"echo begun; until [ -e {go} ]; do sleep 0.05; done; exit 7")
    assert running.stdout is not None
    assert running.stdout.readline() == b"begun\n"
    (home.path / "logs" / "1.1.log").unlink()
    assert running.stderr is not None
    assert b"is missing" in running.stderr.readline()
    go.touch()
    running.communicate(timeout=60)
    assert running.returncode == 7


def test_a_job_without_output_yet(home: Home) -> None:
    home.add("-g", "2", "sleep", "600")
    number = home.add("true")
    done = home.tarmac("log", str(number))
    assert (done.returncode, done.stdout) == (3, "")
    assert "log -f" in done.stderr


def test_tarmacs_logs_can_be_read_without_a_controller(home: Home) -> None:
    missing = home.tarmac("log", "controller")
    assert missing.returncode == 3
    assert not home.path.exists(), "looking must not start anything"
    home.tarmac("status")
    home.tarmac("stop")
    assert home.tarmac("log", "agent").stdout == (home.path / "agent" / "agent.log").read_text()
    assert home.tarmac("log", "agent", "-n", "1").stdout.count("\n") == 1
    assert home.tarmac("log", "controller").returncode == 0
    assert not home.processes()


def test_a_follower_outlives_the_agent_without_a_traceback(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    number = home.add("-c", f"echo first; until [ -e {go} ]; do sleep 0.05; done; echo second")
    with home.start("log", "-f", str(number)) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == b"first\n"
        agent = home.pid_of("agent")
        os.kill(agent, signal.SIGKILL)
        assert until(lambda: home.pid_of("agent") not in {None, agent})
        go.touch()
        assert follower.communicate(timeout=60) == (b"second\n", b"")
    log = (home.path / "controller.log").read_text()
    assert "Traceback" not in log
    assert "ASGI" not in log


def test_options_for_jobs_are_refused_for_tarmacs_own_logs(home: Home) -> None:
    for words in (("controller", "--stderr"), ("agent", "--attempt", "2"), ("agent", "--error"), ("agent", "--raw")):
        done = home.tarmac("log", *words)
        assert (done.returncode, f"{words[1]} is for jobs" in done.stderr) == (2, True)


FAILS = "printf '%s\\n' 'step 1' 'Traceback (most recent call last):' '  File \"x.py\", line 1' 'KeyError: 1'; exit 1"


def test_a_progress_bar_is_shown_as_it_ended(shared_home: Home) -> None:
    number = finished(shared_home, "-c", r"printf 'begin\n 1%%|#  |\r50%%|## |\r99%%|###|\nend\n'")
    assert raw(shared_home, number) == b"begin\n99%|###|\nend\n"
    assert raw(shared_home, "-n", "2", number) == b"99%|###|\nend\n"
    assert raw(shared_home, "--raw", number).count(b"\r") == 2
    assert json.loads(raw(shared_home, "--json", number))[0]["text"] == "begin\n99%|###|\nend\n"
    assert json.loads(raw(shared_home, "--json", "--raw", number))[0]["text"].count("\r") == 2


def test_the_last_lines_count_what_a_terminal_shows(shared_home: Home) -> None:
    bars = "for n in 1 2 3 4 5 6 7 8 9; do printf 'outer %s\\ninner %s\\n\\033[A\\033[A' $n $n; done; printf '\\n\\n'"
    number = finished(shared_home, "-c", f"echo one; echo two; {bars}")
    assert raw(shared_home, "-n", "3", number) == b"two\nouter 9\ninner 9\n"


def test_colours_are_kept_on_a_terminal_only(shared_home: Home) -> None:
    number = finished(shared_home, "-c", r"printf '\033[31mred\033[0m\n\033]0;title\007'")
    assert raw(shared_home, number) == b"red\n"
    with Terminal(shared_home, "log", number) as terminal:
        assert terminal.process.wait(30) == 0
        assert until(lambda: "red" in terminal.text)
    assert "\x1b[31mred\x1b[0m" in terminal.text
    assert "title" not in terminal.text
    with Terminal(shared_home, "log", number, NO_COLOR="1") as terminal:
        assert terminal.process.wait(30) == 0
        assert until(lambda: "red" in terminal.text)
    assert "\x1b" not in terminal.text


def test_a_bar_moves_on_a_terminal_that_follows_it(home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = rf"printf ' 1%%\r 2%%'; while [ ! -e {gate} ]; do sleep 0.02; done; printf '\r\033]0;t\007 3%%\n'"
    with Terminal(home, "log", "-f", str(home.add("-c", script))) as terminal:
        assert until(lambda: " 1%\r 2%" in terminal.text), "before the line is complete"
        gate.touch()
        assert terminal.process.wait(30) == 0
        assert until(lambda: "\r 3%" in terminal.text)


def test_lines_that_match(shared_home: Home) -> None:
    number = finished(shared_home, "-c", r"seq 1000 1010; printf ' 1%%\r 1003 is \033[1mhere\033[0m'")
    assert raw(shared_home, "--grep", "3|7$", number) == b"1003\n1007\n 1003 is here\n"
    assert raw(shared_home, "--grep", "(?i)HERE", number) == b" 1003 is here\n"
    assert raw(shared_home, "--grep", "10", "-n", "2", number) == b"1010\n 1003 is here\n"
    assert json.loads(raw(shared_home, "--grep", "7", "--json", number))[0]["text"] == "1007\n"
    nothing = shared_home.tarmac("log", "--grep", "no such", number)
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "")
    nothing = shared_home.tarmac("log", "--grep", "no such", "--json", number)
    assert (nothing.returncode, json.loads(nothing.stdout)[0]["text"]) == (1, "")


def test_a_wrong_pattern_is_refused(shared_home: Home) -> None:
    done = shared_home.tarmac("log", "--grep", "(", "last")
    assert done.returncode == 2
    assert "regular expression" in done.stderr


def test_matching_lines_can_be_followed(home: Home, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    number = home.add("-c", f"echo a1; echo b1; while [ ! -e {gate} ]; do sleep 0.02; done; echo a2; echo b2")
    following = home.start("log", "-f", "--grep", "^b", str(number))
    assert following.stdout is not None
    assert following.stdout.readline() == b"b1\n"
    gate.touch()
    assert following.communicate(timeout=60) == (b"b2\n", b"")


def test_the_error_is_where_the_output_begins(shared_home: Home) -> None:
    number = finished(shared_home, "-c", FAILS)
    assert raw(shared_home, "--error", number).startswith(b"Traceback (most recent call last):\n")
    assert b"KeyError: 1" in raw(shared_home, "--error", number)
    number = finished(shared_home, "-c", "seq 100; echo 'error: no data'; echo more; exit 1")
    assert raw(shared_home, "--error", number) == b"error: no data\nmore\n"


def test_the_error_in_a_separate_stderr_is_found(shared_home: Home, tmp_path: Path) -> None:
    words = ["--stdout", f"{tmp_path}/out", "--stderr", f"{tmp_path}/err"]
    number = finished(shared_home, *words, "-c", f"echo fine; {{ {FAILS[:-8]}; }} >&2; exit 1")
    assert raw(shared_home, "--error", number).startswith(b"Traceback")


def test_output_without_an_error(shared_home: Home) -> None:
    number = finished(shared_home, "echo", "fine")
    done = shared_home.tarmac("log", "--error", number)
    assert done.returncode == 3
    assert "no traceback and no error line" in done.stderr


@pytest.mark.parametrize("words", [["--error", "-f"], ["--error", "-n", "3"], ["--raw", "--grep", "x"]])
def test_options_that_contradict_each_other_are_refused(shared_home: Home, words: list[str]) -> None:
    done = shared_home.tarmac("log", *words, "last")
    assert done.returncode == 2
    assert "cannot be used together" in done.stderr


def test_the_next_attempt_is_announced_to_a_follower(home: Home, tmp_path: Path) -> None:
    """Preempted, it runs again: both attempts are followed."""
    script = f"echo ran; [ -e {tmp_path}/again ] && exit; touch {tmp_path}/again; exec sleep 1000"
    number = home.add("-g", "0", "-c", script)
    following = home.start("log", "-f", str(number))
    assert following.stdout is not None
    assert following.stdout.readline() == b"ran\n"
    assert home.tarmac("queue", "stop", "--requeue").returncode == 0
    assert home.tarmac("queue", "resume").returncode == 0
    rest, notices = following.communicate(timeout=60)
    assert rest == b"ran\n"
    assert b"tarmac: attempt 2 begins\n" in notices


def test_a_gigabyte_costs_no_memory(home: Home) -> None:
    """Neither the controller nor the command grows, with or without progress bars."""
    number = finished(home, "-c", "yes 'step 7 loss 0.31' | head -c 300M; printf '\\nlast\\n'")
    controller = home.pid_of("controller")
    script = f"ulimit -v 400000; exec {BIN / 'tarmac'} log {number} | tail -n 1"
    done = subprocess.run(["bash", "-c", script], env=home.environment, capture_output=True, timeout=120, check=True)
    assert done.stdout == b"last\n"
    assert raw(home, "-n", "1", number) == b"last\n"
    peak = [line for line in Path(f"/proc/{controller}/status").read_text().splitlines() if line.startswith("VmHWM")]
    assert int(peak[0].split()[1]) < 300_000, "kB"


GATE = "echo ran $TARMAC_ATTEMPT; while [ ! -e {0}/gate ]; do sleep 0.02; done; "


def test_retries_are_followed_too(home: Home, tmp_path: Path) -> None:
    number = str(home.add("-g", "0", "--retry", "1", "-c", GATE.format(tmp_path) + "[ $TARMAC_ATTEMPT = 2 ] || exit 3"))
    following = home.start("log", "-f", number)
    assert following.stdout is not None
    assert following.stdout.readline() == b"ran 1\n"
    (tmp_path / "gate").touch()
    rest, notices = following.communicate(timeout=60)
    assert rest == b"ran 2\n"
    assert b"tarmac: attempt 2 begins\n" in notices
    assert raw(home, "--attempt", "1", number) == b"ran 1\n"


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ((), b"part\nran 2\npart"),
        (("--grep", "^[pr]"), b"part\nran 2\npart\n"),
        (("--raw",), b"partran 2\npart"),
    ],
)
def test_the_next_attempt_begins_on_a_new_line(
    home: Home, tmp_path: Path, option: tuple[str, ...], text: bytes
) -> None:
    number = str(home.add("-g", "0", "--retry", "1", "-c", GATE.format(tmp_path) + "printf part; exit 3"))
    following = home.start("log", "-f", *option, number)
    assert following.stdout is not None
    assert following.stdout.readline() == b"ran 1\n"
    (tmp_path / "gate").touch()
    assert following.communicate(timeout=60)[0] == text


def test_no_lines_are_refused_with_an_error_too(home: Home) -> None:
    done = home.tarmac("log", "--error", "-n", "0")
    assert done.returncode == 2
    assert "--error cannot be used together with --lines" in done.stderr
