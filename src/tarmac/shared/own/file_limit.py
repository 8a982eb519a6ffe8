"""The limit of open descriptors. Tarmac's own processes raise their soft limit; what they start gets the original back.

Programs that use `select` fail with descriptors above 1,023, so a raised limit must not reach a job.
"""

from __future__ import annotations

import resource
from typing import List

MOST = 1 << 20  # the kernel's own default limit of one process, and plenty

_original = resource.getrlimit(resource.RLIMIT_NOFILE)


def raise_soft() -> int:
    """Raise the soft limit to the hard one. Returns the limit that is now in force."""
    hard = _original[1]
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if _original[0] != resource.RLIM_INFINITY and _original[0] < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return MOST if _original[0] == resource.RLIM_INFINITY else _original[0]


def restore() -> None:
    """Return to the limit with which this process was started. Also safe between fork and exec: one system call."""
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, _original)
    except ValueError:  # the hard limit was lowered meanwhile (prlimit)
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(_original[0], hard), hard))


def with_original(argv: List[str]) -> List[str]:
    """A command that starts `argv` with the original soft limit. For processes with threads, which must not fork."""
    soft = _original[0]
    wanted = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
    return ["/bin/sh", "-c", 'ulimit -Sn "$0"; exec "$@"', wanted, *argv]
