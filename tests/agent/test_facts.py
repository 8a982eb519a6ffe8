"""What the agent answers about paths and processes of its machine."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tarmac.agent import facts
from tarmac.shared.system import proc
from tests.home import until


def checked(*, directories: tuple[object, ...] = (), outputs: tuple[object, ...] = ()) -> Any:
    question: Any = {
        "type": "check_paths",
        "ref": 3,
        "directories": [str(path) for path in directories],
        "outputs": [str(path) for path in outputs],
        "reserved": [],
    }
    answer = facts.check_paths(question, "/nonexistent")
    assert (answer["type"], answer["ref"]) == ("paths_checked", 3)
    return answer["directories"] or answer["outputs"]


def described(*pids: int) -> Any:
    return facts.describe_processes({"type": "describe_processes", "pids": list(pids)}, "boot")


def test_a_directory_exists_or_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert checked(directories=(tmp_path, tmp_path / "none", tmp_path / "file")) == [True, False, False]


def test_outputs_are_judged_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "full").write_text("x")
    outputs = (tmp_path / "new", tmp_path / "empty", tmp_path / "full", tmp_path / "none" / "new", tmp_path)
    assert checked(outputs=outputs) == ["good", "good", "has_content", "no_directory", "is_directory"]


def test_a_directory_without_write_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    assert checked(outputs=(tmp_path / "new",)) == ["not_writable"]


def test_a_process_is_described(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as process:
        try:
            assert until(lambda: described(process.pid)["processes"][0]["command"])  # empty for a moment while it execs
            answer = described(process.pid, 2**30, -1)
        finally:
            process.kill()
    (found,) = answer["processes"]
    assert (answer["boot_id"], answer["agent_uid"]) == ("boot", os.getuid())
    assert (found["pid"], found["uid"], found["cwd"]) == (process.pid, os.getuid(), str(tmp_path))
    assert (found["name"], found["command"]) == ("sleep", ["sleep", "60"])


def test_a_process_is_told_from_a_later_one_by_its_start_time() -> None:
    (found,) = described(os.getpid())["processes"]
    stat = proc.read_stat(os.getpid())
    assert stat is not None
    assert found["start_time"] == stat.start_time


def test_a_process_that_has_ended_and_is_not_reaped_does_not_exist() -> None:
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert described(process.pid)["processes"] == []
    process.wait()
