"""The agent's beginning: one per state folder, found by its lock, ready once it listens."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import signal
import sys
import time
from typing import List, Optional

from tarmac.agent import address, cgroup, kernel, process
from tarmac.agent.launch import Place
from tarmac.agent.loop import Loop, log
from tarmac.agent.service import Service

_REACHABLE_S = 20.0


def main(arguments: List[str]) -> int:
    state, ready_fd = _read_arguments(arguments)
    folder = os.path.join(state, "agent")
    os.umask(0o077)
    os.makedirs(os.path.join(folder, "runs"), 0o700, exist_ok=True)
    socket_path = os.path.join(folder, "agent.sock")
    lock_fd = os.open(os.path.join(folder, "agent.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _wait_for_other(socket_path, ready_fd)
    os.ftruncate(lock_fd, 0)
    os.write(lock_fd, b"%d\n" % os.getpid())
    if ready_fd is not None:
        _detach(os.path.join(folder, "agent.log"))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    instance = hashlib.sha256(os.fsencode(os.path.realpath(state))).hexdigest()[:12]
    base, reason = _choose_containment(instance)
    runs_fd = os.open(os.path.join(folder, "runs"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    place = Place(runs_fd=runs_fd, boot_id=process.read_boot_id(), instance=instance, cgroup_base=base)
    loop = Loop()
    Service(loop, place, reason, address.listen(socket_path))
    gc.disable()
    gc.freeze()
    kernel.set_name(b"tarmac-agent")
    _say(ready_fd, b"ready\n")
    log(f"agent {os.getpid()} listens, containment {'cgroup' if base else 'scan'}")
    loop.run()
    return 0


def _read_arguments(arguments: List[str]):  # type: ignore[no-untyped-def]
    state = arguments[arguments.index("--state") + 1]
    ready_fd = int(arguments[arguments.index("--ready-fd") + 1]) if "--ready-fd" in arguments else None
    return os.path.abspath(state), ready_fd


def _choose_containment(instance: str):  # type: ignore[no-untyped-def]
    if os.environ.get("TARMAC_CONTAINMENT") == "scan":
        return None, "TARMAC_CONTAINMENT=scan is set"
    return cgroup.find_base(instance)


def _wait_for_other(socket_path: str, ready_fd: Optional[int]) -> int:
    deadline = time.monotonic() + _REACHABLE_S
    while True:
        try:
            address.connect(socket_path).close()
            _say(ready_fd, b"ready\n")
            return 0
        except OSError as error:
            if time.monotonic() > deadline:
                _say(ready_fd, f"error: another agent holds the lock but cannot be reached: {error}\n".encode())
                return 1
            time.sleep(0.02)


def _say(ready_fd: Optional[int], line: bytes) -> None:
    if ready_fd is not None:
        os.write(ready_fd, line)
        os.close(ready_fd)


def _detach(log_path: str) -> None:
    try:
        os.setsid()
    except PermissionError:
        pass
    os.chdir("/")
    null_fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    log_fd = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(null_fd, 0)
    os.dup2(log_fd, 1)
    os.dup2(log_fd, 2)
    sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)
