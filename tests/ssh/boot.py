"""The first process of a test host: it sets up the host's file systems and name, and then collects orphans.

Run by `unshare` in new namespaces. When its stdin ends, because the host is stopped or the test was killed, it ends,
and the kernel kills every other process of the host and removes its mounts and its network.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import sys

MS_BIND, MS_REC = 4096, 16384
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    plan = json.loads(sys.argv[1])
    socket.sethostname(plan["name"])
    cover(plan["fresh"], plan["visible"])
    for source, target in plan["files"].items():
        mount(source, target, None, MS_BIND)
    os.makedirs("/run/sshd", 0o755)
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    os.write(1, b"up\n")
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if 0 in ready and not os.read(0, 64):
            return
        if woken in ready:
            os.read(woken, 4096)
            reap()


def cover(fresh: list[str], visible: list[str]) -> None:
    """Mount empty directories over those of the machine. What must stay visible in them is mounted into them again."""
    opened = {path: os.open(path, os.O_PATH) for path in visible}
    for path in fresh:
        mount("tmpfs", path, "tmpfs", 0, "mode=1777" if path in {"/tmp", "/dev/shm"} else "mode=755")
    for path, descriptor in opened.items():
        if path.startswith(tuple(f"{folder}/" for folder in fresh)):
            os.makedirs(path, 0o755, exist_ok=True)
            mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND | MS_REC)
        os.close(descriptor)


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), None if options is None else options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, f"{os.strerror(code)}: mount {source}", target)


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    os.umask(0o022)
    main()
