"""Processes that hold namespaces, and commands that run inside them. A namespace ends with its process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.home import until
from tests.ssh.cgroups import entering

BOOT = Path(__file__).with_name("boot.py")


class Namespace:
    """A process that lives until it is closed, or until this process ends. `pid` is the one inside."""

    def __init__(self, *kinds: str, command: list[str], cgroup: Path | None = None) -> None:
        self._cgroup = cgroup
        flags = [f"--{kind}" for kind in kinds] + (["--mount-proc"] if "pid" in kinds else [])
        words = entering(cgroup, ["unshare", "--fork", "--kill-child", *flags, *command])
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"up\n":
            self.close()
            raise RuntimeError(f"could not start {words}")
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self.pid = int(children[0])

    def run(self, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command as root in all its namespaces. Raises an error if it fails, unless `check=False`."""
        options = {"check": True, "capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **options}
        return subprocess.run([*self.entrance(), *words], **options)  # type: ignore[call-overload,no-any-return]

    def entrance(self) -> list[str]:
        return entering(self._cgroup, ["nsenter", "--target", str(self.pid), "--all", "--"])

    def processes(self) -> dict[int, str]:
        """The other processes of its PID namespace: their command lines by pid, as seen from outside."""
        found = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != self.pid and self.holds(int(entry)):
                found[int(entry)] = command_of(int(entry))
        return {pid: command for pid, command in found.items() if command}

    def holds(self, pid: int) -> bool:
        try:
            return os.readlink(f"/proc/{pid}/ns/pid") == os.readlink(f"/proc/{self.pid}/ns/pid")
        except OSError:
            return False

    def close(self) -> None:
        """Kill every process in it. Returns when they are gone."""
        if self._process.poll() is None:
            self._process.kill()  # and with it its child, on whom the others depend
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
        self._process.wait()
        if hasattr(self, "pid"):
            assert until(lambda: not os.path.exists(f"/proc/{self.pid}/ns/net"), 30)


def switch() -> Namespace:
    """A network namespace with a bridge, to which every host of a lab is connected."""
    made = Namespace("net", command=["sh", "-c", "echo up; exec cat"])
    made.run("ip", "link", "add", "br0", "type", "bridge")
    made.run("ip", "link", "set", "br0", "up")
    return made


def computer(plan: str, cgroup: Path | None) -> Namespace:
    command = [sys.executable, "-I", str(BOOT), plan]
    return Namespace("pid", "mount", "uts", "ipc", "net", command=command, cgroup=cgroup)


def kill_left(pid: int, mark: str) -> None:
    """Kill a process of a dead run, if it is still the one with this mark in its command line."""
    if mark in command_of(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        until(lambda: not os.path.exists(f"/proc/{pid}"), 30)


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
