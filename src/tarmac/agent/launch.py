"""From a start frame to a forked shim. The run folder and its lock exist before the fork, so there is no moment in which
somebody could take a living attempt for one that never began."""

from __future__ import annotations

import os
from typing import NamedTuple, NoReturn, Optional

from tarmac.agent import crashpoint, kernel, records
from tarmac.agent.cgroup import Leaf
from tarmac.agent.records import RunFolder
from tarmac.agent.shim import Shim
from tarmac.agent.spec import Spec

_MAX_FD = 0x7FFFFFFF


class Place(NamedTuple):
    """What every attempt on this agent has in common."""

    runs_fd: int
    boot_id: str
    instance: str  # tells this state folder's processes from those of another
    cgroup_base: Optional[str]  # None: containment by scan


class Launched(NamedTuple):
    folder: RunFolder
    shim_pid: int
    report_fd: int  # the shim's frames, then the end of file when it is gone


def launch(place: Place, spec: Spec, port: int, count: int) -> Optional[Launched]:
    """None when the run folder exists already. OSError when nothing was started: no space, no processes left."""
    name = f"{spec.job}.{spec.attempt}"
    crashpoint.reach("agent:before-mkdir")
    folder = records.make(place.runs_fd, name)
    if folder is None:
        return None
    crashpoint.reach("agent:after-mkdir")
    try:
        return _fork(place, spec, port, count, folder)
    except OSError:
        folder.remove()
        folder.close()
        raise


def _fork(place: Place, spec: Spec, port: int, count: int, folder: RunFolder) -> Launched:
    lock_fd = folder.take_lock()
    assert lock_fd is not None, "a folder made just now is locked by somebody"
    report_read, report_write = os.pipe()
    try:
        crashpoint.reach("agent:before-fork")
        shim_pid = os.fork()
        if shim_pid == 0:
            crashpoint.count_from(count)
            _become_shim(place, spec, port, folder, lock_fd, report_write)
    except OSError:
        os.close(report_read)
        raise
    finally:
        os.close(report_write)
        os.close(lock_fd)
    crashpoint.reach("agent:after-fork")
    return Launched(folder, shim_pid, report_read)


def _become_shim(place: Place, spec: Spec, port: int, folder: RunFolder, lock_fd: int, report_fd: int) -> NoReturn:
    try:
        _close_all_but(folder.parent_fd, folder.fd, lock_fd, report_fd)
        leaf = Leaf(f"{place.cgroup_base}/job-{folder.name}") if place.cgroup_base else None
        mark = f"{place.instance}:{folder.name}"
        Shim(spec, folder, report_fd, boot_id=place.boot_id, mark=mark, port=port, leaf=leaf).run()
    finally:
        os._exit(125)


def _close_all_but(*kept: int) -> None:
    """The agent's sockets and locks must not live on in the shim."""
    first = 3
    for fd in sorted(kept):
        kernel.close_range(first, fd - 1)
        first = fd + 1
    kernel.close_range(first, _MAX_FD)
