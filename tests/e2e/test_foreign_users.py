"""What another user of the machine can do to Tarmac: plant files and sockets, or write to what is too open."""

import contextlib
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.home import Home, homes, until

NOBODY = 65534
pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")


@pytest.fixture
def reachable() -> Iterator[Home]:
    """A home that other users can get to: pytest's own directories are below a private one."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o755)
    (place / "home").mkdir(0o755)
    yield from homes(place / "home")
    shutil.rmtree(place)


@contextlib.contextmanager
def another_user(act: Callable[[], object]) -> Iterator[None]:
    """Do something as another user, in a process that stays until the end of the block."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            kept = act()  # a socket must stay open
            os.write(tell, b"done")
            signal.pause()
            del kept
        finally:
            os._exit(1)
    os.close(tell)
    try:
        assert os.read(told, 4) == b"done", "the other user could not do it"
        yield
    finally:
        os.close(told)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def listen(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    path.chmod(0o666)
    sock.listen(8)
    return sock


def refused(home: Home, *words: str) -> str:
    """The message of a command that does not start a controller."""
    done = home.tarmac(*(words or ("add", "true")))
    assert done.returncode in {2, 4, 5}, done
    assert until(lambda: not home.processes())
    return done.stderr


@pytest.mark.parametrize("bits", [0o770, 0o777])
def test_a_config_file_in_a_directory_open_to_others_runs_nothing(reachable: Home, bits: int) -> None:
    reachable.path.chmod(bits)
    os.chown(reachable.path, 0, NOBODY)
    proof = reachable.path.parent / "proof"
    config = reachable.path / "config.toml"
    with another_user(lambda: config.write_text(f"notify_command = 'touch {proof}'\n")):
        message = refused(reachable)
    assert f"{reachable.path} can be changed by other users (mode 0{bits:o})" in message
    assert f"chmod go-w {reachable.path}" in message
    # After the advice, the file that the other user left is not used either.
    reachable.path.chmod(0o755)
    message = refused(reachable)
    assert f"{config} belongs to another user (uid {NOBODY})" in message
    assert not proof.exists()
    config.unlink()
    assert reachable.add("true") == 1


@pytest.mark.parametrize("name", ["tarmac.db", "agent", "logs", "controller.lock"])
def test_a_planted_file_is_refused(reachable: Home, name: str) -> None:
    reachable.path.chmod(0o777)
    planted = reachable.path / name
    with another_user(lambda: planted.mkdir() if name in {"agent", "logs"} else planted.write_bytes(b"")):
        reachable.path.chmod(0o755)
        assert f"{planted} belongs to another user (uid {NOBODY})" in refused(reachable)


@pytest.mark.parametrize("name", ["controller.log", "controller.lock", "tarmac.db", "agent/agent.log"])
def test_a_planted_link_does_not_lead_to_a_write(reachable: Home, name: str) -> None:
    """Not even if it belongs to the user: a link in a directory that was open may have been moved there."""
    victim = reachable.path.parent / "victim"
    victim.write_text("precious")
    (reachable.path / "agent").mkdir(0o700)
    (reachable.path / name).symlink_to(victim)
    assert f"{reachable.path / name} is a symbolic link" in refused(reachable)
    assert victim.read_text() == "precious"


def test_a_planted_agent_gets_no_environment(reachable: Home) -> None:
    folder = reachable.path / "agent"
    folder.mkdir(0o777)
    folder.chmod(0o777)
    sock = folder / "agent.sock"
    with another_user(lambda: listen(sock)):
        folder.chmod(0o700)
        assert f"{sock} belongs to another user (uid {NOBODY})" in refused(reachable)


def test_an_agent_that_is_replaced_under_a_running_controller_gets_nothing(reachable: Home) -> None:
    """The socket is a hard link or was bound elsewhere, so that only the kernel knows who listens."""
    assert reachable.add("true") == 1
    reachable.tarmac("wait", "1")
    agent = reachable.pid_of("agent")
    planted = reachable.path.parent / "planted"
    planted.mkdir(0o777)
    planted.chmod(0o777)
    sock = planted / "sock"
    with another_user(lambda: listen(sock)):
        os.kill(agent, signal.SIGSTOP)  # so that its own file watch does not matter
        os.rename(sock, reachable.path / "agent" / "agent.sock")
        os.kill(agent, signal.SIGKILL)
        log = reachable.path / "controller.log"
        assert until(lambda: f"is served by another user (uid {NOBODY}), so nothing was sent" in log.read_text())
        (reachable.path / "agent" / "agent.sock").unlink()
    assert until(lambda: reachable.tarmac("run", "true").returncode == 0)


def test_a_planted_controller_gets_no_environment(reachable: Home) -> None:
    reachable.path.chmod(0o777)
    with another_user(lambda: listen(reachable.path / "tarmac.sock")):
        assert f"is served by another user (uid {NOBODY}), so nothing was sent" in refused(reachable)


def test_a_home_below_a_directory_that_others_can_write_to_is_refused(reachable: Home) -> None:
    reachable.path.parent.chmod(0o777)
    message = refused(reachable)
    assert f"{reachable.path.parent} can be changed by other users (mode 0777)" in message
    reachable.path.parent.chmod(0o1777)  # as /tmp
    assert reachable.add("true") == 1


def test_a_config_file_that_the_group_may_write_is_refused_wherever_it_is(reachable: Home) -> None:
    folder = reachable.path.parent / "config" / "tarmac"
    folder.mkdir(parents=True)
    config = folder / "config.toml"
    config.write_text("max_jobs_per_gpu = 1\n")
    config.chmod(0o664)
    environment = {
        "TARMAC_HOME": "",
        "XDG_STATE_HOME": str(reachable.path),
        "XDG_CONFIG_HOME": str(folder.parent),
        "MARK": "x",
    }
    done = reachable.tarmac("add", "true", env=environment)
    assert done.returncode == 2
    assert f"{config} can be changed by other users (mode 0664)" in done.stderr
    assert f"chmod go-w {config}" in done.stderr


@pytest.mark.parametrize("is_empty", [True, False])
def test_the_directory_of_another_node_is_checked_by_its_agent(reachable: Home, is_empty: bool) -> None:
    second = reachable.path.parent / "second"
    second.mkdir()
    second.chmod(0o777)
    if not is_empty:
        (second / "agent").mkdir(0o700)
    config = f"[[nodes]]\nname = 'second'\nkind = 'local'\nstate = '{second}'\n"
    (reachable.path / "config.toml").write_text(config)
    reachable.tarmac("status")
    words = "✓ node second" if is_empty else f"{second} can be changed by other users (mode 0777)"
    assert until(lambda: words in reachable.tarmac("doctor").stdout)
    assert second.stat().st_mode & 0o777 == (0o700 if is_empty else 0o777)


def test_nothing_is_open_to_others_under_a_umask_of_zero(reachable: Home) -> None:
    deep = Home(reachable.path / "a" / "b" / "c")
    before = os.umask(0)
    try:
        job = deep.add(
            "--log", str(reachable.path.parent / "job.log"), "--", "touch", str(reachable.path.parent / "made")
        )
    finally:
        os.umask(before)
    deep.tarmac("wait", str(job))
    modes = {path: path.lstat().st_mode for path in reachable.path.rglob("*")}
    assert {path: oct(mode) for path, mode in modes.items() if mode & 0o077} == {}
    assert (reachable.path.parent / "made").stat().st_mode & 0o777 == 0o666, "the job has the umask of its submitter"
    assert not deep.clean()
