"""A person's own machine in a lab: `tarmac` without a controller there, and `ssh` to the hosts."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.home import BIN, FOREIGN
from tests.ssh.lab import Lab


class Laptop:
    """`laptop("ls")` runs `tarmac -H ssh://gpu01 ls`, in a directory that exists only here."""

    def __init__(self, lab: Lab, folder: Path, host: str = "ssh://gpu01") -> None:
        self.host, self.folder = host, folder
        kept = {name: value for name, value in lab.environment.items() if not name.startswith(FOREIGN)}
        self.environment = {**kept, "TARMAC_HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "cache")}
        self.environment |= {"TERM": "xterm-256color", "LAPTOP": "yes"}

    def __call__(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.tarmac("-H", options.pop("host", self.host), *words, **options)

    def tarmac(self, *words: str, timeout_s: float = 60, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **options.pop("env", {})}
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "cwd": self.folder, **options}
        return subprocess.run([str(BIN / "tarmac"), *words], env=environment, timeout=timeout_s, **options)

    def start(self, *words: str, **options: Any) -> subprocess.Popen[str]:
        """In a process group of its own, which `interrupt` reaches as Ctrl-C would."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        command = [str(BIN / "tarmac"), "-H", self.host, *words]
        return subprocess.Popen(
            command, env=self.environment, text=True, cwd=self.folder, start_new_session=True, **options
        )

    def add(self, *words: str, **options: Any) -> int:
        done = self("add", "--cwd", "~", *words, **options)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C: every process of the group gets it, ssh as well."""
    os.killpg(process.pid, signal.SIGINT)
