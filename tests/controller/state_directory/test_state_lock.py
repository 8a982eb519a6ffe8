"""Only one process is the controller of a state directory, whatever happens to the files in it."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from tarmac.controller.state_directory.state_lock import StateLock


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    state.mkdir(0o700)
    return state


def test_a_second_process_does_not_get_it(state: Path) -> None:
    first = StateLock(state)
    assert first.take()
    assert not StateLock(state).take()
    assert (state / "controller.lock").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_removing_the_file_does_not_let_a_second_one_in(state: Path, mode: int) -> None:
    state.chmod(mode)
    first = StateLock(state)
    assert first.take()
    (state / "controller.lock").unlink()
    assert not StateLock(state).take()
    # The file is not left locked by the attempt, or a third would wait for the second.
    with open(state / "controller.lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_links_lead_to_the_same_lock(state: Path) -> None:
    link = state.parent / "link"
    link.symlink_to(state)
    first = StateLock(state)
    assert first.take()
    (state / "controller.lock").unlink()
    assert not StateLock(link).take()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_a_bind_mount_leads_to_the_same_lock(state: Path) -> None:
    other = state.parent / "other"
    other.mkdir()
    if subprocess.run(["mount", "--bind", state, other], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        first = StateLock(state)
        assert first.take()
        (state / "controller.lock").unlink()
        assert not StateLock(other).take()
    finally:
        subprocess.run(["umount", other], check=True)


def test_another_user_cannot_hold_the_lock_of_a_readable_directory(state: Path) -> None:
    state.chmod(0o755)
    descriptor = os.open(state, os.O_RDONLY)  # which anybody could do
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        assert StateLock(state).take()
    finally:
        os.close(descriptor)
