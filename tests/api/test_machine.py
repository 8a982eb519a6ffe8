import os
import pwd
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from tarmac import __version__
from tests.api.served import DEADLINE_S, Served
from tests.home import Home, homes
from tests.services import need


def test_status_tells_who_serves_and_how_jobs_are_contained(api: Served) -> None:
    _, status = api.ask("GET", "/status")
    assert status["version"] == __version__
    assert status["containment"] in {"cgroup", "scan"}
    for name in ("controller_pid", "agent_pid"):
        assert Path(f"/proc/{status[name]}").exists()
    assert (status["policy"], status["paused"], status["queued"], status["running"]) == ("fifo", False, 0, 0)


def test_a_newer_client_is_told_so_and_an_odd_one_too(api: Served) -> None:
    status, answer = api.ask("GET", "/status", headers={"Tarmac-Api": "2"})
    assert status == 426
    assert "tarmac stop" in answer["error"]["hint"]
    assert api.ask("GET", "/status", headers={"Tarmac-Api": "one"})[0] == 400
    assert api.ask("GET", "/status", headers={"Tarmac-Api": "1"})[0] == 200


def test_an_address_that_does_not_exist_is_answered_in_the_same_form(api: Served) -> None:
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
def test_open_streams_and_waits_do_not_hold_up_the_end(home: Home, how: str) -> None:
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
