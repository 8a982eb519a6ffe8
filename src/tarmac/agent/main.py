"""Starts the agent: one per state directory, identified by its lock, ready once it listens."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import signal
import sys
import time
from typing import Dict, List, Optional, Tuple
from zlib import crc32

from tarmac.agent.loop import Loop, has_log_file, log, log_to
from tarmac.agent.procs import cgroup, containment
from tarmac.agent.records.run_folders import RunFolders
from tarmac.agent.run.shim_pool import AgentContext
from tarmac.agent.service import Service
from tarmac.agent.shutdown import Shutdown
from tarmac.shared import crashpoint
from tarmac.shared.own import file_limit, process_title, strict_modes
from tarmac.shared.system import kernel, proc, sockets

_REACHABLE_S = 20.0
_USAGE = "usage: python -m tarmac.agent --state DIR [--ready-fd N | --check]"
# Blocked in the agent and therefore in its shims, which only SIGKILL may end. Commands get an empty mask.
_BLOCKED = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCHLD,
)


def main(arguments: List[str]) -> int:
    try:
        state, ready = _read_arguments(arguments)
    except (IndexError, ValueError):
        sys.stderr.write(_USAGE + "\n")
        return 2
    if "--check" in arguments:
        print(json.dumps(_check(state)))
        return 0
    try:
        return _serve(state, ready)
    except OSError as error:
        if not ready.say(f"error: {error}\n") or has_log_file():  # otherwise the controller logs it
            log(f"the agent cannot start: {error}")
        return 1


def _serve(state: str, ready: Ready) -> int:
    if ready.fd is not None:
        kernel.close_all_but(ready.fd)  # files that the caller left open must not reach a job
    os.umask(0o077)
    folder = os.path.join(state, "agent")
    strict_modes.make_directories(state)
    strict_modes.secure(strict_modes.problems_of_agent(state))  # an empty directory is taken over: not after mkdir
    strict_modes.make_directories(folder)
    socket_path = os.path.join(folder, "agent.sock")
    if not _become_the_only_one(os.path.join(folder, "agent.lock"), socket_path):
        ready.say("ready\n")
        return 0
    if ready.fd is not None:
        _detach(os.path.join(folder, "agent.log"), ready.fd)
    crashpoint.reach("agent:after-lock")
    loop = Loop()
    signal_fd = _prepare_process()
    instance = instance_of(state)
    base, reason = containment.choose(instance)
    context = AgentContext(folders=RunFolders(folder), boot_id=proc.read_boot_id(), instance=instance, cgroup_base=base)
    service = Service(loop, context, reason)
    loop.watch(signal_fd, lambda: _end_on_signal(service.shutdown, signal_fd), "signals")
    # What exists now is never garbage, and a collection in a forked shim would copy every page it visits.
    gc.disable()
    gc.freeze()
    crashpoint.reach("agent:after-recovery")
    service.open(sockets.listen(socket_path))
    _end_without_socket(socket_path, loop)
    crashpoint.reach("agent:after-listen")
    log(f"agent {os.getpid()} listens, containment {f'cgroup {base}' if base else f'scan ({reason})'}")
    ready.say("ready\n")
    loop.run()
    if base is not None:
        cgroup.sweep(base, ())
        cgroup.remove_base(base)
    log(f"agent {os.getpid()} ends, its jobs continue")
    return 0


def _check(state: str) -> Dict[str, Optional[str]]:
    """Try how jobs would be contained, and leave nothing behind. An agent may be running: its cgroups stay."""
    base, reason = containment.choose(instance_of(state))
    if base is None:
        return {"containment": "scan", "containment_reason": reason}
    cgroup.remove_base(base)
    return {"containment": "cgroup", "containment_reason": None}


class Ready:
    """The pipe on which the controller that starts the agent waits for one line. None: no controller waits."""

    def __init__(self, fd: Optional[int]) -> None:
        self.fd = fd

    def say(self, line: str) -> bool:
        """False if nobody listens. The descriptor is forgotten, because its number is soon used for something else."""
        fd, self.fd = self.fd, None
        if fd is None:
            return False
        try:
            os.write(fd, line.encode())
        except BrokenPipeError:
            pass  # the controller that started us is gone; the next one will find the socket
        os.close(fd)
        return True


def _read_arguments(arguments: List[str]) -> Tuple[str, Ready]:
    state = arguments[arguments.index("--state") + 1]
    ready_fd = int(arguments[arguments.index("--ready-fd") + 1]) if "--ready-fd" in arguments else None
    return os.path.abspath(state), Ready(ready_fd)


def instance_of(state: str) -> str:
    """Distinguish the processes and cgroups of this state directory from others. (hashlib would load OpenSSL, 4 MB.)"""
    path = os.fsencode(os.path.realpath(state))
    return f"{crc32(path):08x}{crc32(path[::-1]):08x}"


def _become_the_only_one(lock_path: str, socket_path: str) -> bool:
    """False if another agent answers. One that has the lock but does not answer is starting or ending: eventually it
    answers, or its lock is free."""
    deadline = time.monotonic() + _REACHABLE_S
    while not _take_lock(lock_path):
        try:
            sockets.connect(socket_path).close()
            return False
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    return True


def _take_lock(path: str) -> bool:
    """The lock lasts until the process ends; no child inherits it."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return False
    try:
        os.ftruncate(fd, 0)
        os.write(fd, b"%d\n" % os.getpid())
    except OSError:
        pass  # for people only; ignore a full disk
    return True


def _prepare_process() -> int:
    """Return a descriptor that reads the signals the process gets from now on."""
    for signum in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(signum) is signal.SIG_IGN:
            signal.signal(signum, signal.SIG_DFL)  # left by nohup or a shell
    kernel.unignore_unnamed_signals()
    fd = kernel.signal_fd(_BLOCKED)
    file_limit.raise_soft()  # several descriptors per job are open
    kernel.become_subreaper()  # so that the agent inherits the processes of a killed shim
    process_title.begin("tarmac: agent", "tarmac-agent")
    return fd


def _end_without_socket(socket_path: str, loop: Loop) -> None:
    """End the agent when its socket is removed, usually with its whole directory: it could never be reached again."""

    def check() -> None:
        os.read(inotify_fd, 65536)
        if not os.path.exists(socket_path):
            log("the agent's socket was removed")
            loop.stop()

    try:
        inotify_fd = kernel.inotify_init()
        kernel.inotify_add_watch(inotify_fd, os.path.dirname(socket_path), kernel.IN_DELETE | kernel.IN_MOVE_SELF)
    except OSError:
        return  # the user has no inotify watches left
    loop.watch(inotify_fd, check, "socket")


def _end_on_signal(shutdown: Shutdown, fd: int) -> None:
    try:
        signum = int.from_bytes(os.read(fd, 128)[:4], sys.byteorder)
    except BlockingIOError:
        return
    if signum in (signal.SIGTERM, signal.SIGINT):
        shutdown.begin()


def _detach(log_path: str, ready_fd: int) -> None:
    """Detach from the caller's terminal, directory and standard streams."""
    try:
        os.setsid()
    except PermissionError:
        pass
    os.chdir("/")
    null_fd = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(null_fd, 0)
    log_to(log_path)
    os.set_inheritable(ready_fd, False)
