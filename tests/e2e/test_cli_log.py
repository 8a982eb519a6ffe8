import os
import signal
from pathlib import Path

from tests.home import Home, is_connected, until


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
    assert raw(shared_home, number) == b"\xff\xfecaf\xe9\n\0"


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
    assert following.communicate(timeout=30) == (b"second\n", b"")
    assert following.returncode == 0


def test_follow_waits_for_a_job_that_has_not_started(home: Home) -> None:
    blocker = home.add("-g", "2", "sleep", "600")
    number = home.add("echo", "at last")
    following = home.start("log", "-f", str(number))
    assert until(lambda: is_connected(following.pid))
    home.tarmac("kill", str(blocker))
    assert following.communicate(timeout=30) == (b"at last\n", b"")


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
    looking = home.start("log", number)
    assert looking.stdout is not None
    assert looking.stdout.read(10) == bytes(10)
    looking.stdout.close()
    assert looking.wait(20) == -signal.SIGPIPE
    assert looking.stderr is not None
    looking.stderr.close()
    tail = home.start("log", "-n", "1", number)
    assert tail.stdout is not None
    assert tail.stdout.read(10) == bytes(10)
    tail.kill()
    tail.communicate()


def test_a_line_that_is_too_long_is_reported_as_cut(home: Home) -> None:
    number = finished(home, "-c", "truncate -s 65M /proc/self/fd/1")
    cut = home.tarmac("log", "-n", "1", number, text=False, encoding=None)
    assert (cut.returncode, len(cut.stdout)) == (0, 64 << 20)
    assert b"stopped searching for earlier lines" in bytes(cut.stderr)
    assert home.tarmac("log", "-n", "0", number).stderr == ""


def test_removed_output_is_reported(home: Home) -> None:
    number = str(home.add("-c", "echo begun; exec sleep 600"))
    following = home.start("log", "-f", number)
    assert following.stdout is not None
    assert following.stdout.readline() == b"begun\n"
    (home.path / "logs" / f"{number}.1.log").unlink()
    said = following.communicate(timeout=20)[1]
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
    assert following.communicate(timeout=20)[0] == b"new\n"


def test_run_reports_the_end_of_a_job_whose_output_was_removed(home: Home, tmp_path: Path) -> None:
    go = tmp_path / "go"
    running = home.start("run", "-c", f"echo begun; until [ -e {go} ]; do sleep 0.05; done; exit 7")
    assert running.stdout is not None
    assert running.stdout.readline() == b"begun\n"
    (home.path / "logs" / "1.1.log").unlink()
    assert running.stderr is not None
    assert b"is missing" in running.stderr.readline()
    go.touch()
    running.communicate(timeout=20)
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
    for words in (("controller", "--stderr"), ("agent", "--attempt", "2")):
        done = home.tarmac("log", *words)
        assert (done.returncode, "--stderr and --attempt are for jobs" in done.stderr) == (2, True)
