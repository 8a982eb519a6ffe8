import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tarmac import __version__
from tarmac.shared.names import API
from tests.api.served import DEADLINE_S, Served
from tests.home import Home, homes, until
from tests.services import need


def test_status_shows_the_processes_and_the_containment(api: Served) -> None:
    _, status = api.ask("GET", "/status")
    assert status["version"] == __version__
    assert status["containment"] in {"cgroup", "scan"}
    for name in ("controller_pid", "agent_pid"):
        assert Path(f"/proc/{status[name]}").exists()
    assert (status["policy"], status["paused"], status["queued"], status["running"]) == ("balance", False, 0, 0)


def test_status_counts_all_files_of_the_database(api: Served) -> None:
    api.ids(*[{"command": ["true"], "gpus": 0}] * 500)
    sizes: list[int] = []

    def is_counted() -> bool:
        """The files may grow between the two looks."""
        _, status = api.ask("GET", "/status")
        sizes.append(sum(file.stat().st_size for file in api.home.glob("tarmac.db*")))
        return bool(status["database_bytes"] == sizes[-1])

    assert until(is_counted), sizes
    assert sizes[-1] > 100_000


def test_status_has_the_memory_of_the_host(api: Served) -> None:
    (node,) = api.ask("GET", "/status")[1]["nodes"]
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert (node["connected"], node["problem"], node["gpus"]) == (True, None, 2)
    assert node["memory_total_bytes"] == pytest.approx(total, rel=0.05)
    assert 0 < node["memory_available_bytes"] <= node["memory_total_bytes"]


def test_newer_and_unreadable_client_versions_are_refused(api: Served) -> None:
    status, answer = api.ask("GET", "/status", headers={"Tarmac-Api": str(API + 1)})
    assert status == 426
    assert "tarmac stop" in answer["error"]["hint"]
    assert api.ask("GET", "/status", headers={"Tarmac-Api": "one"})[0] == 400
    assert api.ask("GET", "/status", headers={"Tarmac-Api": "1"})[0] == 200


def test_an_unknown_address_has_the_same_error_body(api: Served) -> None:
    status, answer = api.ask("GET", "/nope")
    assert (status, answer["error"]["code"]) == (404, "not_found")
    assert api.ask("PUT", "/jobs")[1]["error"]["code"] == "refused"


def test_the_owner_is_who_the_kernel_says(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "gpus": 0})
    assert api.ask("GET", f"/jobs/{job}")[1]["owner"] == pwd.getpwuid(os.getuid()).pw_name
    status, answer = api.submit({"command": ["true"], "gpus": 0, "owner": "somebody"})
    assert status == 400, answer


def test_strangers_are_refused_by_their_uid() -> None:
    need("root")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        for home in homes(Path(folder) / "home"):
            here = Served(home)
            # Even where the folders would let them through.
            Path(folder).chmod(0o755)
            here.home.chmod(0o755)
            (here.home / "tarmac.sock").chmod(0o666)
            said = _asked_as_nobody(here.home / "tarmac.sock")
            assert "403" in said.splitlines()[0]
            assert "not_allowed" in said


def _asked_as_nobody(path: Path) -> str:
    request = "GET /api/v1/status HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"
    code = (
        "import os, socket; os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
        f"s.connect({str(path)!r}); s.sendall(b'{request}'); print(s.makefile().read())"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "stop"])
def test_open_streams_and_waits_do_not_delay_the_shutdown(home: Home, how: str) -> None:
    here = Served(home)
    (job,) = here.ids({"command": ["sleep", "60"]})
    here.until(job, "running")
    pid = home.pid_of("controller")
    waiting = threading.Thread(target=here.ask, args=("GET", f"/jobs/wait?ids={job}&timeout_s=300"))
    waiting.start()
    assert here.get("/events").readline() == b"event: hello\n"
    here.get(f"/jobs/{job}/log?follow=1")
    watched = os.pidfd_open(pid)
    if how == "stop":
        here.client.stop(agent=False)
    else:
        os.kill(pid, getattr(signal, how))
    assert select.select([watched], [], [], DEADLINE_S)[0], "the controller did not end in time"
    os.close(watched)
    waiting.join()
    here.close()
    # The next command starts another one, which knows the job.
    assert home.tarmac("ls", "--json", str(job)).returncode == 0
    assert home.client().job(job).state == "running"


def test_a_stale_socket_file_is_replaced(home: Home) -> None:
    home.path.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.path / "tarmac.sock"))
    assert home.tarmac("status").returncode == 0


def test_a_home_too_long_for_a_socket_address_works(tmp_path: Path) -> None:
    folder = tmp_path / ("h" * 100) / ("o" * 100)
    folder.mkdir(parents=True)
    for home in homes(folder / "home"):
        assert home.tarmac("run", "-g", "0", "--", "echo", "hi").stdout == "hi\n"


@pytest.mark.parametrize("taken", [("tarmac.sock",), ("controller.lock",), ("tarmac.sock", "controller.lock")])
def test_a_controller_whose_socket_or_lock_was_removed_makes_room_for_another(
    home: Home, taken: tuple[str, ...]
) -> None:
    job = home.add("--", "sleep", "60")
    first = home.pid_of("controller")
    watched = os.pidfd_open(first)
    for name in taken:
        (home.path / name).unlink()
    assert select.select([watched], [], [], DEADLINE_S)[0], "it goes on where nobody can reach it"
    os.close(watched)
    assert home.tarmac("ls").returncode == 0
    assert home.pid_of("controller") != first
    assert home.client().job(job).state in {"starting", "running"}


def test_a_removed_home_leaves_no_process_behind(home: Home) -> None:
    home.add("-g", "0", "--", "true")
    pids = [home.pid_of("controller"), home.pid_of("agent")]
    assert until(lambda: home.client().job("last").state == "succeeded")
    shutil.rmtree(home.path, ignore_errors=True)
    assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_the_files_of_a_home_are_private(home: Home) -> None:
    home.path.mkdir(mode=0o755)
    home.add("-g", "0", "--", "true")
    for path in home.path.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_agent_that_does_not_answer_is_seen(home: Home) -> None:
    here = Served(home)
    assert here.ask("GET", "/status")[1]["agent_answers"] is True
    agent = home.pid_of("agent")
    os.kill(agent, signal.SIGSTOP)
    try:
        assert here.ask("GET", "/status")[1]["agent_answers"] is False
    finally:
        os.kill(agent, signal.SIGCONT)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    need("root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def cramped(small_disk: Path) -> Iterator[Home]:
    yield from homes(small_disk / "home")


def test_a_running_job_can_be_stopped_while_nothing_can_be_written(cramped: Home, small_disk: Path) -> None:
    here = Served(cramped)
    (job,) = here.ids({"command": ["sleep", "300"]})
    pid = here.until(job, "running")["pid"]
    with suppress(OSError):
        (small_disk / "fill").write_bytes(b"x" * 2**24)
    assert until(lambda: here.submit({"command": ["true", "x" * 100_000]})[0] == 503)
    assert here.ask("POST", "/jobs/kill", {"ids": [str(job)], "grace_s": 1})[1]["asked"] == [job]
    assert until(lambda: not Path(f"/proc/{pid}").exists())
    (small_disk / "fill").unlink()
    assert until(lambda: here.ask("GET", f"/jobs/{job}")[1]["state"] == "cancelled")


def test_status_shows_the_name_of_the_node_not_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "node").write_text("before-the-renaming\n")
    for home in homes(tmp_path):
        assert home.client().status()["node"] == "before-the-renaming"
