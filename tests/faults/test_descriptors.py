"""A controller with few descriptors, and with more clients than it can serve."""

import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, until

WAIT = b"GET /api/v1/jobs/wait?ids=%d&timeout_s=300 HTTP/1.1\r\nHost: tarmac\r\n\r\n"
EVENTS = b"GET /api/v1/events HTTP/1.1\r\nHost: tarmac\r\n\r\n"


class Crowd:
    """Clients that send one request and never read."""

    def __init__(self, home: Home) -> None:
        self._path = str(home.path / "tarmac.sock")
        self._clients: list[socket.socket] = []

    def send(self, request: bytes, count: int) -> None:
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            self._clients.append(client)
            client.settimeout(20)
            client.connect(self._path)
            try:
                client.sendall(request)
            except OSError:
                pass  # refused

    def answers(self) -> list[bytes]:
        return [client.recv(1 << 16) for client in self._clients]

    def close(self) -> None:
        for client in self._clients:
            client.close()


@pytest.fixture
def crowd(home: Home) -> Iterator[Crowd]:
    found = Crowd(home)
    yield found
    found.close()


def limited(soft: int, hard: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_more_clients_wait_than_the_soft_limit_of_the_shell_allows(home: Home, crowd: Crowd) -> None:
    home.tarmac("status", preexec_fn=lambda: limited(200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    job = home.add("--gpus", "0", "sleep", "60")
    crowd.send(WAIT % job, 1500)
    assert home.tarmac("status").returncode == 0
    assert home.tarmac("kill", str(job), "--grace", "0").returncode == 0
    assert all(b" 200 OK" in answer for answer in crowd.answers())


@pytest.mark.parametrize("request_", [WAIT % 1, EVENTS, b"", b"GET /"], ids=["wait", "events", "nothing", "half"])
def test_a_crowd_at_the_hard_limit_does_not_lock_out_short_requests(home: Home, crowd: Crowd, request_: bytes) -> None:
    home.tarmac("status", preexec_fn=lambda: limited(150, 150))
    job = home.add("--gpus", "0", "sleep", "60")
    crowd.send(request_, 300)
    assert "queue" in home.tarmac("status").stdout
    assert "running" in home.tarmac("ls").stdout
    assert home.tarmac("kill", str(job), "--grace", "0").returncode == 0
    crowd.close()
    assert home.tarmac("wait", str(job), "--timeout", "50").returncode != 124
    assert home.tarmac("stop").returncode == 0


def test_a_limit_that_is_lowered_below_what_is_used_does_not_lock_out_short_requests(home: Home, crowd: Crowd) -> None:
    job = home.add("--gpus", "0", "sleep", "60")
    pid = home.pid_of("controller")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (descriptors(pid) + 8, hard))
    crowd.send(WAIT % job, 100)
    assert "queue" in home.tarmac("status").stdout
    before = cpu_s(pid)
    assert not until(lambda: cpu_s(pid) - before > 0.5, 1.0), "it spins"
    assert home.tarmac("kill", str(job), "--grace", "0").returncode == 0
    crowd.close()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
    assert home.tarmac("wait", str(job)).returncode != 5


def test_streams_that_do_not_read_do_not_delay_a_stop(home: Home, crowd: Crowd) -> None:
    home.add("--gpus", "0", "sleep", "60")
    pid = home.pid_of("controller")
    crowd.send(EVENTS, 50)
    crowd.send(WAIT % 1, 50)
    crowd.send(b"POST /api/v1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", 50)
    assert home.tarmac("stop", timeout_s=20).returncode == 0
    assert until(lambda: not os.path.exists(f"/proc/{pid}"), 10)
