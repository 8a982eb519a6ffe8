"""Tags the processes of an attempt by a resource limit that none of them can shed: RLIMIT_RTTIME, the hard limit.

A process may leave its session, empty its environment and close its descriptors. Its limits stay: fork and exec inherit
them, only root can raise a hard limit, and everyone can read them. RLIMIT_RTTIME limits the processor time, in
microseconds, that a real-time process takes without a pause. Tens of thousands of years limit nothing.

From the highest bit: 0; three bits that count down with each job started from within a job, because a limit can only
get lower; 22 bits of the instance; 28 bits of the job's id; 10 bits of the attempt.
"""

from __future__ import annotations

import resource
from typing import Optional

from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.shared.system.shortage import is_shortage

_INSTANCE_BITS, _JOB_BITS, _ATTEMPT_BITS = 22, 28, 10
_LEVEL_SHIFT = _INSTANCE_BITS + _JOB_BITS + _ATTEMPT_BITS
_TOP_LEVEL = 7
_LOWEST = 1 << _LEVEL_SHIFT  # 36,000 years: no one sets such a limit by hand


def tag_for(instance: str, key: AttemptKey) -> Optional[int]:
    """Return the tag that a child of this process can get, None if it can get none.

    That is the case if this process has a real limit, if jobs are nested too deeply, or if a number is too large.
    """
    level = _level_below(own_limit())
    if level is None or key.job >> _JOB_BITS or key.attempt >> _ATTEMPT_BITS:
        return None
    return level << _LEVEL_SHIFT | _of_attempt(instance, key)


def apply(tag: Optional[int]) -> None:
    """Tag this process and all that it will start."""
    if tag is not None:
        resource.setrlimit(resource.RLIMIT_RTTIME, (tag, tag))


def own_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_RTTIME)[1]


def read_tag(pid: int) -> Optional[int]:
    """Return the tag of a process, of whichever instance; None if it has none. Every user can set one: see owner."""
    try:
        limit = resource.prlimit(pid, resource.RLIMIT_RTTIME)[1]
    except PermissionError:
        limit = _read_limit(pid)  # of another user: a program with the setuid bit
    except OSError:
        return None
    return limit if limit >= _LOWEST else None


def key_of_tag(instance: str, tag: int) -> Optional[AttemptKey]:
    """Return the attempt, None if it belongs to another instance."""
    low = tag & (_LOWEST - 1)
    key = AttemptKey(low >> _ATTEMPT_BITS & (1 << _JOB_BITS) - 1, low & (1 << _ATTEMPT_BITS) - 1)
    return key if low == _of_attempt(instance, key) else None


def _level_below(limit: int) -> Optional[int]:
    if limit == resource.RLIM_INFINITY:
        return _TOP_LEVEL
    level = (limit >> _LEVEL_SHIFT) - 1
    return level if level > 0 else None


def _of_attempt(instance: str, key: AttemptKey) -> int:
    high = int(instance, 16) & (1 << _INSTANCE_BITS) - 1
    return (high << _JOB_BITS | key.job) << _ATTEMPT_BITS | key.attempt


def _read_limit(pid: int) -> int:
    """Return the hard limit as everyone can read it; 0 if it is unlimited or the process is gone.

    Raises OSError if no descriptor is left to look.
    """
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            fields = file.read().rpartition(b"Max realtime timeout")[2].split()
    except OSError as error:
        if is_shortage(error):
            raise
        return 0
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0
