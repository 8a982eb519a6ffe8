"""A temporary Tarmac for a test: a separate state directory and simulated GPUs, removed afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tarmac.client import Client

BIN = Path(sys.executable).parent
# Variables of the developer's shell that a test must not see.
FOREIGN = ("TARMAC_", "XDG_", "NO_COLOR", "CUDA_", "NVIDIA_", "MASTER_")


class Home:
    """`tarmac("add", "true")` runs the installed script as a user would."""

    def __init__(self, path: Path, gpus: str = "2x24G") -> None:
        self.path = path
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.environment = {**kept, "TARMAC_HOME": str(path), "TARMAC_FAKE_GPUS": gpus, "TERM": "xterm-256color"}
        self.environment["XDG_CACHE_HOME"] = str(path / "cache")
        self._started: list[subprocess.Popen[bytes]] = []

    def tarmac(self, *words: str, timeout_s: float = 60, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **options.pop("env", {})}
        command = [str(BIN / "tarmac"), *words]
        options = {"capture_output": True, "text": True, "encoding": "utf-8", "stdin": subprocess.DEVNULL, **options}
        return subprocess.run(command, env=environment, timeout=timeout_s, check=False, **options)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Like a call, but without waiting for its end."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        environment = options.pop("env", self.environment)
        process = subprocess.Popen([str(BIN / "tarmac"), *words], env=environment, **options)
        self._started.append(process)
        return process

    def client(self) -> Client:
        """Never starts a controller, which would inherit the test's environment."""
        if not (self.path / "tarmac.sock").exists():
            assert self.tarmac("status").returncode == 0
        return Client(self.path, start=False)

    def add(self, *words: str) -> int:
        done = self.tarmac("add", *words)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    def pid_of(self, what: str) -> int:
        pid: int = self.client().status()[f"{what}_pid"]
        return pid

    def processes(self) -> dict[int, str]:
        """The processes with this home's mark in their environment, by pid."""
        mark = f"TARMAC_HOME={self.path}".encode()
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid() and mark in _read(f"/proc/{entry}/environ").split(b"\0"):
                found[int(entry)] = _read(f"/proc/{entry}/cmdline").replace(b"\0", b" ").decode(errors="replace")
        return found

    def environments(self) -> list[bytes]:
        """The environments of its processes, without those that end meanwhile."""
        return [_read(f"/proc/{pid}/environ") for pid in self.processes()]

    def clean(self) -> dict[int, str]:
        """Stop everything like a user; returns the processes that had to be killed."""
        if (self.path / "tarmac.db").exists():
            self.tarmac("kill", "all", "--grace", "0")
            self.tarmac("wait", "--state", "active", "--timeout", "20")
            self.tarmac("stop")
        until(lambda: not self.processes(), 45)
        left = self.processes()
        for pid in left:
            _kill(pid)
        for process in self._started:
            process.wait(60)
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        return left


def until(condition: Callable[[], Any], within_s: float = 60) -> Any:
    """The first true value of the condition, or its last false one after the timeout."""
    deadline = time.monotonic() + within_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return value


def is_connected(pid: int) -> bool:
    """True once the command has connected to the controller."""
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""  # ended meanwhile, or owned by another user


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def homes(path: Path, gpus: str = "2x24G") -> Iterator[Home]:
    """A home for a fixture. At the end it is stopped, and no process may be left."""
    home = Home(path, gpus)
    yield home
    left = home.clean()
    assert not left, f"processes left behind: {left}"
