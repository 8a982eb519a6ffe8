"""From a start frame to a forked shim. The run folder and its lock exist before the fork, so there is no moment in
which somebody could take a living attempt for one that never began."""

from __future__ import annotations

import os
import traceback
from typing import NamedTuple, NoReturn, Optional

from tarmac.agent import crashpoint, kernel
from tarmac.agent.cgroup import Leaf
from tarmac.agent.pool import Pool
from tarmac.agent.records import RunFolder
from tarmac.agent.shim import Shim
from tarmac.agent.spec import Spec


class Place(NamedTuple):
    """What every attempt on this agent has in common."""

    pool: Pool
    boot_id: str
    instance: str  # tells this state folder's processes from those of another
    cgroup_base: Optional[str]  # None: containment by scan

    def mark(self, job: int, attempt: int) -> str:
        return f"{self.instance}:{job}.{attempt}"

    def leaf(self, job: int, attempt: int) -> Optional[Leaf]:
        return Leaf(f"{self.cgroup_base}/job-{job}.{attempt}") if self.cgroup_base else None


class Launched(NamedTuple):
    folder: RunFolder
    shim_pid: int
    report_fd: int  # the shim's frames, then the end of file when it is gone


def launch(place: Place, spec: Spec, port: int, earlier: int) -> Optional[Launched]:
    """None when the run folder exists already. OSError when nothing was started: no space, no processes left.

    `earlier`: how many shims this agent has forked before.
    """
    crashpoint.reach("agent:before-mkdir")
    folder = place.pool.take(f"{spec.job}.{spec.attempt}")
    if folder is None:
        return None
    crashpoint.reach("agent:after-mkdir")
    try:
        return _fork(place, spec, port, earlier, folder)
    except OSError:
        folder.remove()
        raise


def _fork(place: Place, spec: Spec, port: int, earlier: int, folder: RunFolder) -> Launched:
    lock_fd = folder.take_lock()
    assert lock_fd is not None, "a folder taken just now is locked by somebody"
    report_read, report_write = os.pipe()
    try:
        crashpoint.reach("agent:before-fork")
        shim_pid = os.fork()
        if shim_pid == 0:
            crashpoint.count_from(earlier)
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
        # The agent's sockets and locks must not live on in the shim.
        kernel.close_all_but(folder.parent_fd, folder.fd, lock_fd, report_fd)
        leaf = place.leaf(spec.job, spec.attempt)
        mark = place.mark(spec.job, spec.attempt)
        Shim(spec, folder, report_fd, boot_id=place.boot_id, mark=mark, port=port, leaf=leaf).run()
    except BaseException:  # noqa: BLE001  the outermost frame of a process
        os.write(2, f"shim of job {spec.job}.{spec.attempt}:\n{traceback.format_exc()}".encode())
    finally:
        os._exit(125)
