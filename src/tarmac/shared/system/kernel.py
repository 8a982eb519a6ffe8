"""System calls that Python 3.8 does not offer. Each raises OSError, as the functions of os do."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from typing import Any, Iterable, Optional

# PyDLL does not release the interpreter lock: clone3 must not return in a child that has released it.
_libc = ctypes.PyDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long

# The same numbers on every architecture since Linux 5.1.
_PIDFD_SEND_SIGNAL = 424
_PIDFD_OPEN = 434
_CLONE3 = 435
_CLOSE_RANGE = 436

# Older calls have different numbers on each architecture.
_RT_SIGACTION = {"x86_64": 13, "aarch64": 134, "riscv64": 134, "ppc64le": 173}.get(os.uname().machine)

_CLONE_INTO_CGROUP = 0x200000000
_MAX_FD = 0x7FFFFFFF
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36

_CLOCK_REALTIME = 0
_TIMER_ABSTIME, _TIMER_CANCEL_ON_SET = 1, 2
_LATEST_S = 9_000_000_000  # in 2255; the kernel counts nanoseconds in 63 bits

IN_MODIFY = 0x002
IN_ATTRIB = 0x004
IN_MOVE_SELF = 0x800
IN_CREATE = 0x100
IN_MOVED_TO = 0x080
IN_DELETE = 0x200
IN_Q_OVERFLOW = 0x4000


class _CloneArguments(ctypes.Structure):
    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("pidfd", ctypes.c_uint64),
        ("child_tid", ctypes.c_uint64),
        ("parent_tid", ctypes.c_uint64),
        ("exit_signal", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("stack_size", ctypes.c_uint64),
        ("tls", ctypes.c_uint64),
        ("set_tid", ctypes.c_uint64),
        ("set_tid_size", ctypes.c_uint64),
        ("cgroup", ctypes.c_uint64),
    )


class _TimerSpec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def pidfd_open(pid: int) -> Optional[int]:
    """None on kernels before 5.3. Raises ProcessLookupError if the process does not exist."""
    try:
        return _checked(_syscall(ctypes.c_long(_PIDFD_OPEN), ctypes.c_long(pid), ctypes.c_long(0)))
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM):
            return None
        raise


def pidfd_send_signal(pidfd: int, signum: int) -> None:
    _checked(
        _syscall(
            ctypes.c_long(_PIDFD_SEND_SIGNAL),
            ctypes.c_long(pidfd),
            ctypes.c_long(signum),
            ctypes.c_void_p(None),
            ctypes.c_long(0),
        )
    )


def fork_into(cgroup_fd: int) -> int:
    """Fork a child inside the cgroup. Moving it there later would take the kernel 4 to 20 ms.

    The C library does not know of this fork, so the child may only prepare and exec.
    """
    arguments = _CloneArguments(flags=_CLONE_INTO_CGROUP, exit_signal=signal.SIGCHLD, cgroup=cgroup_fd)
    return _checked(
        _syscall(ctypes.c_long(_CLONE3), ctypes.byref(arguments), ctypes.c_size_t(ctypes.sizeof(arguments)))
    )


def close_all_but(*keep: int) -> None:
    """Close all descriptors except these and 0, 1 and 2."""
    first = 3
    for fd in sorted(keep):
        _close_range(first, fd - 1)
        first = fd + 1
    _close_range(first, _MAX_FD)


def _close_range(first: int, last: int) -> None:
    """Both ends included."""
    if first > last:
        return
    if _syscall(ctypes.c_long(_CLOSE_RANGE), ctypes.c_long(first), ctypes.c_long(last), ctypes.c_long(0)) < 0:
        os.closerange(first, min(last + 1, os.sysconf("SC_OPEN_MAX")))  # before Linux 5.9


def signal_fd(signals: Iterable[int]) -> int:
    """Block the signals and return a descriptor that reads them. Their dispositions do not change, so a forked child
    has only its mask to restore."""
    os_signals = set(signals)
    signal.pthread_sigmask(signal.SIG_BLOCK, os_signals)
    mask = (ctypes.c_uint64 * 16)(sum(1 << (number - 1) for number in os_signals))
    return _checked(_libc.signalfd(-1, ctypes.byref(mask), os.O_NONBLOCK | os.O_CLOEXEC))


def unignore_unnamed_signals() -> None:
    """Reset the signals that the C library reserves (glibc: 32 and 33), if they are ignored, as GNU make leaves them.

    Python cannot name these signals. A handler of the library stays.
    """
    if _RT_SIGACTION is None:
        return
    for signum in sorted(set(range(1, signal.NSIG)) - signal.valid_signals()):
        present = (ctypes.c_void_p * 4)()  # the kernel's struct sigaction: the handler first, the mask last
        _sigaction(signum, None, present)
        if present[0] == int(signal.SIG_IGN):
            _sigaction(signum, (ctypes.c_void_p * 4)(), None)  # all zeros is SIG_DFL


def _sigaction(signum: int, wanted: Any, present: Any) -> None:
    mask_bytes = ctypes.c_size_t(8)
    _checked(_syscall(ctypes.c_long(_RT_SIGACTION or 0), ctypes.c_long(signum), wanted, present, mask_bytes))


def become_subreaper() -> None:
    _checked(_libc.prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0))


def die_with_parent() -> None:
    """Get SIGKILL when the parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0)


def set_name(name: bytes) -> None:
    _libc.prctl(_PR_SET_NAME, ctypes.c_char_p(name), 0, 0, 0)


def inotify_init() -> int:
    return _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))


def inotify_add_watch(inotify_fd: int, path: str, mask: int) -> int:
    return _checked(_libc.inotify_add_watch(inotify_fd, ctypes.c_char_p(os.fsencode(path)), ctypes.c_uint32(mask)))


def inotify_rm_watch(inotify_fd: int, watch: int) -> None:
    _libc.inotify_rm_watch(inotify_fd, watch)


def wall_timer() -> int:
    """Return a descriptor for a timer on the wall clock."""
    return _checked(_libc.timerfd_create(_CLOCK_REALTIME, os.O_NONBLOCK | os.O_CLOEXEC))


def set_wall_timer(timer_fd: int, at: float) -> None:
    """The descriptor becomes readable at that moment, and when the clock is set: reading then fails with ECANCELED.

    A resume from suspend counts as setting the clock.
    """
    seconds = int(min(max(at, 0.0), _LATEST_S))
    spec = _TimerSpec(0, 0, seconds, int((min(max(at, 0.0), _LATEST_S) - seconds) * 1e9) or 1)  # all zeros disarms it
    flags = ctypes.c_int(_TIMER_ABSTIME | _TIMER_CANCEL_ON_SET)
    _checked(_libc.timerfd_settime(timer_fd, flags, ctypes.byref(spec), None))
