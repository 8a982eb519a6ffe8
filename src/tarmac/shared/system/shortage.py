"""A call that failed because descriptors or memory have run out. It says nothing about what was asked, and may succeed
soon: the caller tries again later. Above all, a process that cannot be looked at has not ended."""

from __future__ import annotations

import errno

_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)


def is_shortage(error: OSError) -> bool:
    return error.errno in _ERRORS


def is_shortage_at_fork(error: OSError) -> bool:
    """A fork fails with EAGAIN at the limit of processes, which means something else to other calls."""
    return is_shortage(error) or error.errno == errno.EAGAIN
