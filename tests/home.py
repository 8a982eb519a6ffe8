"""A throw-away Tarmac for a test: its own state folder, simulated GPUs, and nothing left of it afterwards."""

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
# What the developer's own shell may hold, and a test must not see.
FOREIGN = ("TARMAC_", "XDG_", "NO_COLOR", "CUDA_", "NVIDIA_", "MASTER_")


class Home:
    """`tarmac("add", "true")` runs the installed script as a user would."""

    def __init__(self, path: Path, gpus: str = "2x24G") -> None:
        self.path = path
        kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.environment = {**kept, "TARMAC_HOME": str(path), "TARMAC_FAKE_GPUS": gpus, "TERM": "xterm-256color"}

    def tarmac(self, *words: str, timeout_s: float = 60, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **options.pop("env", {})}
        command = [str(BIN / "tarmac"), *words]
        options = {"capture_output": True, "text": True, "encoding": "utf-8", "stdin": subprocess.DEVNULL, **options}
        return subprocess.run(command, env=environment, timeout=timeout_s, check=False, **options)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """The same without waiting for its end."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([str(BIN / "tarmac"), *words], env=self.environment, **options)

    def client(self) -> Client:
        """Starts nothing by itself: the controller would inherit the test's environment."""
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
        """Everything that carries this home's mark in its environment, by pid."""
        mark = f"TARMAC_HOME={self.path}".encode()
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != os.getpid() and mark in _read(f"/proc/{entry}/environ").split(b"\0"):
                found[int(entry)] = _read(f"/proc/{entry}/cmdline").replace(b"\0", b" ").decode(errors="replace")
        return found

    def clean(self) -> dict[int, str]:
        """End everything as a user would; returns what was left and had to be killed."""
        if (self.path / "tarmac.db").exists():
            self.tarmac("kill", "all", "--grace", "0")
            self.tarmac("wait", "--state", "active", "--timeout", "20")
            self.tarmac("stop")
        until(lambda: not self.processes(), 10)
        left = self.processes()
        for pid in left:
            _kill(pid)
        return left


def until(condition: Callable[[], Any], within_s: float = 20) -> Any:
    """The condition's first true value; its last false one when it does not become true in time."""
    deadline = time.monotonic() + within_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return value


def is_connected(pid: int) -> bool:
    """Whether the command has got as far as to talk to the controller."""
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""  # ended meanwhile, or another user's


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def homes(path: Path, gpus: str = "2x24G") -> Iterator[Home]:
    """What the fixtures are made of."""
    home = Home(path, gpus)
    yield home
    left = home.clean()
    assert not left, f"processes left behind: {left}"
