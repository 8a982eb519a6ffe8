"""How commands find or start a controller, and their messages if they cannot."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tarmac.client import Client, transport
from tarmac.errors import TooNew
from tarmac.shared.names import API
from tests.home import Home, homes, until
from tests.terminal import Terminal


def controllers(home: Home) -> list[int]:
    return [pid for pid, command in home.processes().items() if "-m tarmac.controller" in command]


@pytest.mark.parametrize(
    "words", [["stop"], ["doctor"], ["--help"], ["--version"], ["add", "--help"], ["log", "agent"]]
)
def test_commands_that_need_no_controller_start_none(home: Home, words: list[str]) -> None:
    home.tarmac(*words)
    assert not home.path.exists()
    assert not home.processes()


def test_the_controller_outlives_the_command_and_its_session(home: Home) -> None:
    home.tarmac("status", start_new_session=True)
    pid = home.pid_of("controller")
    assert os.getsid(pid) != os.getsid(0)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert os.readlink(f"/proc/{pid}/fd/0") == "/dev/null"
    assert os.readlink(f"/proc/{pid}/fd/1") == str(home.path / "controller.log")


def test_a_controller_started_inside_a_job_inherits_nothing_from_it(home: Home) -> None:
    home.tarmac("status", env={"TARMAC_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "3", "TARMAC_MARK": "x"})
    environment = Path(f"/proc/{home.pid_of('controller')}/environ").read_bytes()
    assert b"TARMAC_JOB_ID" not in environment
    assert b"CUDA_VISIBLE_DEVICES" not in environment
    assert b"TARMAC_MARK" not in environment


def test_a_stale_socket_is_replaced(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(home.path / "tarmac.sock"))
    stale.close()
    assert home.add("true") == 1


def test_a_killed_controller_is_replaced_by_the_next_command(home: Home) -> None:
    first = home.add("sleep", "600")
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    assert home.add("true") == first + 1
    assert len(controllers(home)) == 1


def test_a_home_too_long_for_a_socket_address(tmp_path: Path) -> None:
    for home in homes(tmp_path / ("deep" * 15) / ("deeper" * 15)):
        assert home.tarmac("run", "echo", "works").stdout == "works\n"


def test_stop_ends_everything_except_the_jobs(home: Home) -> None:
    number = home.add("sleep", "600")
    assert until(lambda: home.client().job(number).state == "running")
    with Terminal(home, "stop") as terminal:
        assert terminal.ends() == 0
        assert "1 job continues" in terminal.text
    assert not controllers(home)
    assert [command for command in home.processes().values() if command.startswith("sleep 600")]
    assert "running" in home.tarmac("ls").stdout


def ends_by_command(home: Home) -> None:
    done = home.tarmac("stop", "--keep-agent")
    assert done.returncode == 0, done.stderr


def ends_by_signal(home: Home) -> None:
    os.kill(home.pid_of("controller"), signal.SIGTERM)


@pytest.mark.parametrize("end", [ends_by_command, ends_by_signal])
def test_the_agent_outlives_the_controller(home: Home, end: Callable[[Home], None]) -> None:
    job = home.add("-g", "0", "sleep", "600")
    agent, controller = home.pid_of("agent"), home.pid_of("controller")
    for _ in range(3):
        end(home)
        assert until(lambda: not controllers(home)), "the controller ends"
        assert home.pid_of("agent") == agent, "and another one finds the same agent"
        assert home.pid_of("controller") != controller
        controller = home.pid_of("controller")
    assert home.client().job(job).state == "running"
    assert "was removed" not in (home.path / "controller.log").read_text()


def test_a_second_stop_succeeds(home: Home) -> None:
    home.tarmac("status")
    assert home.tarmac("stop").returncode == 0
    assert home.tarmac("stop").returncode == 0


def test_serve_runs_in_the_foreground_until_it_is_interrupted(home: Home) -> None:
    serving = home.start("serve")
    assert until((home.path / "tarmac.sock").exists)
    assert until(lambda: home.tarmac("status").returncode == 0)
    assert home.pid_of("controller") == serving.pid
    refused = home.tarmac("serve")
    assert refused.returncode == 2
    assert f"pid {serving.pid}" in refused.stderr
    serving.send_signal(signal.SIGINT)
    _, said = serving.communicate(timeout=60)
    assert b"Traceback" not in said


def test_an_unknown_key_in_the_config_is_named_with_the_nearest(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "config.toml").write_text('gpu_id_stile = "uuid"\n')
    done = home.tarmac("add", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert "gpu_id_stile" in done.stderr
    assert "gpu_id_style" in done.stderr
    assert until(lambda: not home.processes())


@pytest.mark.parametrize("text", ["= nonsense", "gpu_id_style = 3"])
def test_an_unreadable_config_is_refused(home: Home, text: str) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "config.toml").write_text(text)
    done = home.tarmac("ls")
    assert (done.returncode, done.stdout) == (2, "")
    assert "config.toml" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_state_directory_that_cannot_be_created_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = home.tarmac("ls", env={"TARMAC_HOME": str(tmp_path / "file" / "home")})
    assert (done.returncode, done.stdout) == (5, "")
    assert "TARMAC_HOME" in done.stderr


def test_a_file_that_is_not_a_database_is_refused_and_unchanged(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    database = home.path / "tarmac.db"
    database.write_bytes(b"this is no database" * 1000)
    done = home.tarmac("ls")
    assert (done.returncode, done.stdout) == (5, "")
    assert "tarmac.db" in done.stderr
    assert database.read_bytes() == b"this is no database" * 1000
    database.unlink()


def test_a_newer_client_is_told_to_restart_the_controller(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.tarmac("status")
    monkeypatch.setattr(transport, "_COMMON", transport._COMMON.replace(f"Tarmac-Api: {API}", f"Tarmac-Api: {API + 1}"))
    with pytest.raises(TooNew, match=f"API {API + 1}") as caught, Client(home.path, start=False) as client:
        client.status()
    assert caught.value.exit_code == 2
    assert caught.value.hint is not None
    assert "tarmac stop" in caught.value.hint


def test_doctor_finds_nothing_wrong_with_a_sound_installation(home: Home) -> None:
    home.tarmac("status")
    done = home.tarmac("doctor")
    assert done.returncode == 0, done.stdout
    for name in (
        "python",
        "config",
        "state directory",
        "free space",
        "controller",
        "database",
        "agent",
        "containment",
        "gpus",
    ):
        assert f" {name}: " in done.stdout
    assert "✗" not in done.stdout


def test_doctor_says_what_is_wrong_and_what_to_do(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    (home.path / "config.toml").write_text("= nonsense")
    done = home.tarmac("doctor")
    assert done.returncode == 1
    line, advice = done.stdout.split("✗ ")[1].splitlines()[:2]
    assert line.startswith("config: ")
    assert advice.startswith("    ")


def test_python_dash_m_is_the_same_command(home: Home) -> None:
    command = [sys.executable, "-m", "tarmac", "--version"]
    done = subprocess.run(command, env=home.environment, capture_output=True, text=True, check=True)
    assert done.stdout == home.tarmac("--version").stdout


def test_no_controller_is_started_inside_a_job(home: Home) -> None:
    inside = home.tarmac("ls", env={"TARMAC_STATE": str(home.path), "TARMAC_JOB_ID": "7"})
    assert inside.returncode == 5
    assert "job 7 may not start one" in inside.stderr
    assert home.tarmac("ls", env={"TARMAC_STATE": "/another", "TARMAC_JOB_ID": "7"}).returncode == 0


def test_doctor_detects_a_stopped_controller_and_agent(home: Home) -> None:
    agent, controller = home.pid_of("agent"), home.pid_of("controller")
    for name, pid in (("agent", agent), ("controller", controller)):
        os.kill(pid, signal.SIGSTOP)
        try:
            done = home.tarmac("doctor")
        finally:
            os.kill(pid, signal.SIGCONT)
        assert done.returncode == 1
        assert f"✗ {name}: " in done.stdout
        assert "does not answer" in done.stdout
