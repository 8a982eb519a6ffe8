"""Named reasons of failure, with the line that says so and a hint in `show`: memory, and causes outside the job."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tarmac.client.records import Job
from tests.agent.outcome.samples import KEY_ERROR, OLD_TORCH_LINE, PYTHON, STEPS, TORCH_LINE
from tests.home import Home, until


@pytest.fixture(autouse=True)
def _no_breaker(shared_home: Home) -> None:
    """Many of these jobs fail at once, which would pause the queue."""
    assert shared_home.tarmac("set", "suspend_after_failures", "0").returncode == 0


def ended(home: Home, *words: str) -> Job:
    return end_of(home, home.add("-g", "0", *words))


def end_of(home: Home, job: int) -> Job:
    """The whole record of the job, once it has ended."""
    home.client().wait(job, timeout_s=60)
    return home.client().job(job)


def shown(home: Home, job: int) -> str:
    done = home.tarmac("show", str(job))
    assert done.returncode == 0, done.stderr
    return done.stdout


def printing(text: str, tmp_path: Path, *, code: int, to: str = "1") -> list[str]:
    log = tmp_path / "printed"
    log.write_text(text)
    return ["-c", f"cat {log} >&{to}; exit {code}"]


def test_gpu_memory_that_ran_out_is_named_with_the_line_that_says_so(shared_home: Home, tmp_path: Path) -> None:
    job = ended(shared_home, *printing(STEPS + PYTHON + TORCH_LINE + "\n", tmp_path, code=1))
    assert (job.state, job.reason, job.exit_code) == ("failed", "oom-gpu", 1)
    assert "failed (oom-gpu)" in shared_home.tarmac("ls", str(job.id)).stdout
    text = shown(shared_home, job.id)
    assert "failed (oom-gpu)" in text
    assert "CUDA out of memory. Tried to allocate 2.00 GiB" in text
    assert "hint" in text
    assert "--min-gpu-mem" in text


def test_a_separate_stderr_is_looked_at_too(shared_home: Home, tmp_path: Path) -> None:
    words = ["--stdout", f"{tmp_path}/out", "--stderr", f"{tmp_path}/err"]
    job = ended(shared_home, *words, *printing(PYTHON + TORCH_LINE + "\n", tmp_path, code=1, to="2"))
    assert job.reason == "oom-gpu"


def test_memory_that_ran_out_in_a_job_that_succeeds_is_not_a_failure(shared_home: Home, tmp_path: Path) -> None:
    job = ended(shared_home, *printing(PYTHON + TORCH_LINE + "\n", tmp_path, code=0))
    assert (job.state, job.reason) == ("succeeded", None)
    assert "out of memory" not in shown(shared_home, job.id)


def test_a_survived_shortage_does_not_name_a_later_failure(shared_home: Home, tmp_path: Path) -> None:
    job = ended(shared_home, *printing(f"caught {OLD_TORCH_LINE}\n{STEPS}{KEY_ERROR}", tmp_path, code=1))
    assert (job.reason, job.exit_code) == ("exit", 1)
    assert "KeyError: 'lr'" in shown(shared_home, job.id)


def test_the_output_of_an_earlier_job_in_the_same_file_is_not_blamed(shared_home: Home, tmp_path: Path) -> None:
    log = tmp_path / "all.log"
    log.write_text(PYTHON + TORCH_LINE + "\n")
    job = ended(shared_home, "--log", str(log), "--append", "-c", "exit 3")
    assert (job.reason, job.exit_code) == ("exit", 3)
    assert shared_home.client().job(job.id).error_line is None


def test_a_failure_without_an_agent_is_named_by_the_next_one(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "printed"
    log.write_text(PYTHON + TORCH_LINE + "\n")
    go = tmp_path / "go"
    job = home.add("-g", "0", "-c", f"while [ ! -e {go} ]; do sleep 0.01; done; cat {log}; exit 1")
    assert until(lambda: home.client().job(job).state == "running")
    agent = home.pid_of("agent")
    os.kill(agent, signal.SIGSTOP)
    go.touch()
    assert until(lambda: (home.path / "logs" / f"{job}.1.log").stat().st_size > 0)
    os.kill(agent, signal.SIGKILL)
    assert end_of(home, job).reason == "oom-gpu"


def test_a_kill_from_outside_is_named(shared_home: Home) -> None:
    job = shared_home.add("-g", "0", "sleep", "1000")
    running = until(lambda: (found := shared_home.client().job(job)).state == "running" and found)
    os.kill(running.pid, signal.SIGKILL)
    ends = end_of(shared_home, job)
    assert (ends.state, ends.reason, ends.signal) == ("failed", "killed", 9)
    text = shown(shared_home, job)
    assert "failed (killed)" in text
    assert "ended by SIGKILL" in text
    assert "a process outside Tarmac sent SIGKILL" in " ".join(text.split())


def test_a_kill_from_outside_of_what_a_script_runs_is_named(shared_home: Home) -> None:
    job = ended(shared_home, "-c", "bash -c 'kill -9 $$'; exit $?")
    assert (job.reason, job.exit_code) == ("killed", 137)


def test_other_signals_and_kills_by_tarmac_are_not(shared_home: Home) -> None:
    assert ended(shared_home, "-c", "kill -SEGV $$").reason == "signal"
    assert ended(shared_home, "--time", "1s", "--grace", "0", "sleep", "1000").reason == "timeout"
    job = shared_home.add("-g", "0", "sleep", "1000")
    assert until(lambda: shared_home.client().job(job).state == "running")
    assert shared_home.tarmac("kill", "--grace", "0", str(job)).returncode == 0
    assert end_of(shared_home, job).state == "cancelled"


def test_a_working_directory_that_is_deleted_before_the_start_is_named(shared_home: Home, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    job = shared_home.add("-g", "0", "--cwd", str(gone), "--hold", "true")
    gone.rmdir()
    assert shared_home.tarmac("release", str(job)).returncode == 0
    ends = end_of(shared_home, job)
    assert (ends.state, ends.reason) == ("failed", "no-cwd")
    assert f"create {gone} again" in " ".join(shown(shared_home, job).split())


@pytest.mark.parametrize("again", [False, True], ids=["deleted", "and created again"])
def test_a_working_directory_that_is_deleted_while_it_runs_is_named(
    shared_home: Home, tmp_path: Path, again: bool
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    wait = f"touch {tmp_path}/ready; while [ ! -e {tmp_path}/go ]; do sleep 0.01; done"
    read = f"{sys.executable} -c \"open('config.yaml')\""
    job = shared_home.add("-g", "0", "--cwd", str(gone), "-c", f"{wait}; {read}")
    assert until((tmp_path / "ready").exists)
    shutil.move(gone, tmp_path / "other")
    if again:
        gone.mkdir()
    shutil.rmtree(tmp_path / "other")
    (tmp_path / "go").touch()
    ends = end_of(shared_home, job)
    assert (ends.reason, ends.exit_code) == ("no-cwd", 1)
    assert "No such file or directory: 'config.yaml'" in shown(shared_home, job)


def test_a_missing_file_in_a_directory_that_exists_is_a_plain_failure(shared_home: Home, tmp_path: Path) -> None:
    job = ended(shared_home, "--cwd", str(tmp_path), sys.executable, "-c", "open('config.yaml')")
    assert job.reason == "exit"


def test_an_interpreter_that_vanished_is_named(shared_home: Home, tmp_path: Path) -> None:
    """The environment was removed after the submit; or a script's own first line names it."""
    script = tmp_path / "train.py"
    script.write_text(f"#!{tmp_path}/venv/bin/python\nprint(1)\n")
    script.chmod(0o755)
    for words in ([f"{tmp_path}/venv/bin/python3.11", "train.py"], [str(script)], ["-c", str(script)]):
        job = ended(shared_home, *words)
        assert (job.state, job.reason) == ("failed", "no-interpreter"), words
        assert "venv, conda" in " ".join(shown(shared_home, job.id).split())


def test_a_misspelt_program_is_a_failed_launch(shared_home: Home) -> None:
    assert ended(shared_home, "pyhton", "train.py").reason == "launch"
    assert ended(shared_home, "-c", "pyhton train.py").reason == "exit"


def test_a_disk_that_a_job_filled_is_named_by_its_error(shared_home: Home, tmp_path: Path) -> None:
    """Not the disk of its log: that one is looked at by the shim."""
    text = PYTHON + "OSError: [Errno 28] No space left on device: '/data/last.ckpt'\n"
    job = ended(shared_home, *printing(text, tmp_path, code=1))
    assert (job.reason, job.exit_code) == ("disk-full", 1)
    text = shown(shared_home, job.id)
    assert "`df -h`" in text
    assert "where the job writes" in " ".join(text.split())
    assert "disk of" not in text, "its log is on another disk"


@pytest.mark.parametrize("command", [["sleep", "600"], ["-c", "sleep 600; exit $?"]])
def test_a_job_that_its_warning_ended_says_so(shared_home: Home, command: list[str]) -> None:
    """A process without a handler does not survive it."""
    job = ended(shared_home, "--time", "600s", "--signal", "USR1@599", *command)
    assert job.state == "failed"
    assert "--signal USR1@599 sends this signal as a warning" in " ".join(shown(shared_home, job.id).split())
    other = ended(shared_home, "--time", "600s", "--signal", "USR1@300", "-c", "exit 3")
    assert "as a warning" not in shown(shared_home, other.id)


def test_a_reboot_is_named(home: Home) -> None:
    job = home.add("-g", "0", "sleep", "1000")
    running = until(lambda: (found := home.client().job(job)).state == "running" and found)
    agent = home.pid_of("agent")
    shim = int(Path(f"/proc/{running.pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert home.tarmac("stop").returncode == 0
    assert until(lambda: not Path(f"/proc/{agent}").exists())
    for pid in (shim, running.pid):
        os.kill(pid, signal.SIGKILL)
    home.environment["TARMAC_BOOT_ID"] = "another"
    assert home.tarmac("ls").returncode == 0
    ends = until(lambda: (found := home.client().job(job)).is_ended and found)
    assert (ends.state, ends.reason) == ("unknown", "reboot")
    text = shown(home, job)
    assert "unknown (reboot)" in text
    assert "the machine was restarted" in " ".join(text.split())


def test_a_job_that_the_shutdown_of_the_machine_ended_is_named(home: Home, tmp_path: Path) -> None:
    """The shim recorded its end, but nothing was left to report it."""
    job = home.add("-g", "0", "sleep", "1000")
    running = until(lambda: (found := home.client().job(job)).state == "running" and found)
    agent = home.pid_of("agent")
    assert home.tarmac("stop").returncode == 0
    assert until(lambda: not Path(f"/proc/{agent}").exists())
    os.kill(running.pid, signal.SIGTERM)
    record = home.path / "agent" / "runs" / f"{job}.1" / "exit.json"
    assert until(lambda: record.exists() and '"signal":15' in record.read_text())
    home.environment["TARMAC_BOOT_ID"] = "another"
    assert home.tarmac("ls").returncode == 0
    ends = end_of(home, job)
    assert (ends.state, ends.reason, ends.signal) == ("failed", "reboot", 15)


MEMORY = Path("/sys/fs/cgroup/memory")


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="needs a memory cgroup that can be written")
@pytest.mark.parametrize("script", ["exec {}", "{}; exit $?"], ids=["the command", "a command of a script"])
def test_memory_of_the_machine_that_ran_out_is_named(shared_home: Home, script: str) -> None:
    group = MEMORY / f"tarmac-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(48 << 20))
        program = f"open('{group}/cgroup.procs', 'w').write('0'); x = bytearray(300 << 20)"
        job = ended(shared_home, "-c", script.format(f'{sys.executable} -c "{program}"'))
    finally:
        group.rmdir()
    assert (job.state, job.reason) == ("failed", "oom-host")
    assert job.error_line is not None
    assert "Killed process" in job.error_line or "lack of memory" in job.error_line
    text = shown(shared_home, job.id)
    assert "failed (oom-host)" in text
    assert "--mem" in text
