"""One process per running attempt, forked from the agent: it runs a command from the start record to the exit record.

It depends on no other process: the agent may die and come back at any moment. It has the run directory locked as long
as it lives: a free lock without an exit record means that the shim itself was killed.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NoReturn, Optional, Tuple, Union, cast

from tarmac.agent.outcome.conclusion import was_killed
from tarmac.agent.outcome.memory_kills import Ending, find_kill, take_counts
from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.cgroup import Leaf
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.leftovers import describe
from tarmac.agent.procs.patience import PatientContainment, patiently
from tarmac.agent.procs.proc_scan import ProcessTree
from tarmac.agent.records.attempt_key import AttemptKey, key_of_record
from tarmac.agent.records.pause_record import Pauses, pauses_of
from tarmac.agent.records.run_folder import EXIT, LEFT, PAUSED, SPEC, START, STOP, Record, RunFolder, was_signalled
from tarmac.agent.run.shim import exec_command
from tarmac.agent.run.shim.exec_command import Opened, Trouble
from tarmac.agent.run.shim.remains import is_log_disk_full, remains_of, suspended_s
from tarmac.agent.run.shim.time_limit import TimeLimit
from tarmac.agent.run.shim.tree_end import end_stragglers, is_tree_gone
from tarmac.agent.run.start_request import Limit
from tarmac.shared import crashpoint, protocol
from tarmac.shared.own import process_title
from tarmac.shared.system import boot_clock, kernel, proc
from tarmac.shared.system.boot_clock import Moment

if TYPE_CHECKING:
    from tarmac.agent.frames import AssignFrame, FailedRecord, FailingFrame, IdleFrame
    from tarmac.shared.frames.base import Origin
    from tarmac.shared.frames.reports import ExitedFrame, ReportFrame

_IDLE_TITLE = "tarmac: idle shim"
_LINGER_S = 0.05  # helpers of a command that end with it need a moment: they are not left behind
_RECORD_AGAIN_S = 1.0
_TRIES = 5


class Shim:
    def __init__(
        self, folder: RunFolder, channel_fd: int, *, boot_id: str, instance: str, leaf: Optional[Leaf]
    ) -> None:
        self.folder = folder
        self.channel_fd = channel_fd
        self.boot_id = boot_id
        self.instance = instance
        self.leaf = leaf
        self.key = AttemptKey(0, 0)
        self.me = 0
        self.my_start_time = 0
        self.pid = 0  # of the command
        self.pid_start_time = 0
        self.started = Moment(0.0)
        self.limit: Optional[Limit] = None
        self.origin: Optional[Origin] = None
        self.port = 0
        self.time_limit: Optional[TimeLimit] = None  # of this attempt, once the command is released
        self.opened: Optional[Opened] = None  # the files of this attempt
        self.command_fd = -1
        self.failure_fd = -1

    def run(self) -> NoReturn:
        os.setsid()
        kernel.become_subreaper()
        kernel.set_name(b"tarmac-shim")
        process_title.change(_IDLE_TITLE)
        self.me = os.getpid()
        self.my_start_time = _start_time(self.me)
        self._fork()
        while True:
            assign, start = self._receive()
            if not start:
                self._leave()
            self._run_attempt(assign, start)
            process_title.change(_IDLE_TITLE)
            self._fork()
            self._send({"type": "idle"})

    def _run_attempt(self, assign: bytes, start: bytes) -> None:
        trouble = self._launch(assign, start)
        self._close_pipes()
        if trouble is None:
            self._send(protocol.started(*self.key, pid=self.pid, at=self.started, port=self.port))
            process_title.change(f"tarmac: shim {self.key}")  # last: the job need not wait for it
            self._conclude(self._wait(start))
        else:
            final = protocol.launch_failed(*self.key, message=trouble.message, at=boot_clock.now())
            if trouble.outside is not None:
                final["outside"] = trouble.outside
            if trouble.missing is not None:
                final["missing"] = trouble.missing
            self._conclude(final)

    # Without a job

    def _fork(self) -> None:
        """Fork the command's process, which waits for a job, with a pipe to it and one for why it cannot execute."""
        if self.leaf is not None and self.pid:
            self.leaf.renew()
        command_read, self.command_fd = os.pipe()
        self.failure_fd, failure_write = os.pipe()
        crashpoint.reach("shim:before-fork")
        self.pid = os.fork() if self.leaf is None else self.leaf.fork()
        if self.pid == 0:
            os.close(self.command_fd)
            exec_command.become(self.instance, command_read, failure_write)
        crashpoint.reach("shim:after-fork")
        os.close(command_read)
        os.close(failure_write)
        self.pid_start_time = _start_time(self.pid)

    def _close_pipes(self) -> None:
        os.close(self.command_fd)
        os.close(self.failure_fd)

    def _receive(self) -> Tuple[bytes, bytes]:
        """Return the assign frame and the start frame, empty if the agent ended before it had sent both."""
        try:
            assign = protocol.read_frame(self.channel_fd)
            if assign and protocol.decode(assign)["is_in_folder"]:
                return assign, self.folder.read_and_remove(SPEC)
            return assign, protocol.read_frame(self.channel_fd)
        except OSError:
            return b"", b""

    def _leave(self) -> NoReturn:
        self._close_pipes()
        os.waitpid(self.pid, 0)
        if self.leaf is not None:
            self.leaf.retire()
        os._exit(0)

    # With a job

    def _launch(self, assign: bytes, start: bytes) -> Optional[Trouble]:
        """Return None once the command runs, otherwise why it does not."""
        assigned = cast("AssignFrame", protocol.decode(assign))
        self.key = AttemptKey(assigned["job"], assigned["attempt"])
        self.limit = Limit(**assigned["limit"]) if assigned["limit"] else None
        self.origin = assigned["origin"]
        self.port = assigned["port"]
        self.time_limit = None  # the previous attempt may have had one
        self.opened = None
        crashpoint.count_from(assigned["nth"] - 1)
        try:
            answer = self._prepare(assign + start)
        except OSError as error:
            return Trouble(f"cannot be started: {error.strerror}")
        if answer.startswith(exec_command.READY):
            self.opened = Opened.of_ready(answer)
            return self._release()
        return Trouble.of_answer(answer) if answer else None

    def _prepare(self, job: bytes) -> str:
        """Return READY or why the command's process cannot become ready. Empty if the attempt was stopped before."""
        for _ in range(_TRIES):
            _write(self.command_fd, job)  # the process prepares while the record is written
            self._record_start()
            answer = os.read(self.failure_fd, 8192).decode()
            if answer or self._read_stop() is not None:
                return answer
            # Killed while it waited, by a late signal for the previous attempt. Nothing ran, so try another process.
            os.waitpid(self.pid, 0)
            self._close_pipes()
            self._fork()
        return "cannot be started: its process was killed repeatedly before it started"

    def _release(self) -> Optional[Trouble]:
        crashpoint.reach("shim:before-release")
        if self.limit is not None:
            self.time_limit = TimeLimit(
                self.limit, self.pid, self._containment(), stop_deadline=self._stop_deadline, pauses=self._pauses
            )
        _write(self.command_fd, b"g")
        crashpoint.reach("shim:after-release")
        trouble = os.read(self.failure_fd, 8192).decode()
        crashpoint.reach("shim:after-exec")
        return Trouble.of_answer(trouble) if trouble else None

    def _record_start(self) -> None:
        crashpoint.reach("shim:before-start-record")
        self.started = boot_clock.now()
        self.folder.write_durably(
            START,
            {
                "job": self.key.job,
                "attempt": self.key.attempt,
                "boot_id": self.boot_id,
                "shim_pid": self.me,
                "shim_start_time": self.my_start_time,
                "pid": self.pid,
                "start_time": self.pid_start_time,
                "started_at": self.started.at,
                "started_s": self.started.boot_s,
                "port": self.port,
                "cgroup": self.leaf.path if self.leaf else None,
                "limit": _limit_record(self.limit),
                "origin": self.origin,
                "tag": limit_tag.tag_for(self.instance, self.key),
            },
        )
        crashpoint.reach("shim:after-start-record")

    def _wait(self, start: bytes) -> Union[ExitedFrame, FailedRecord]:
        """Wait until the command itself ends. Orphans of its tree that end before are reaped on the way."""
        limit = self.time_limit
        counts, before_s = take_counts(self.leaf.path if self.leaf else None), suspended_s()
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG if limit else 0)
            if pid == self.pid:
                break
            if pid == 0 and limit:
                limit.wait()
        final = protocol.exited(
            *self.key,
            status=status,
            pid=pid,
            started=self.started,
            ended=boot_clock.now(),
            signalled=was_signalled(self._read_stop()),
        )
        if limit is not None:
            limit.complete(final)
        if status == 0 or self.opened is None:
            return final
        remains = remains_of(self.opened, protocol.decode(start), suspended_s() - before_s)
        is_disk_full = is_log_disk_full(remains)  # first: another process may make space at any moment
        if is_tree_gone(self.leaf):  # the agent examines the output while the exit record is written
            self._send({"type": "failing", "record": {**final, "remains": remains}})
        kill = find_kill(counts, Ending(pid, self.leaf.path if self.leaf else None, was_killed(final)))
        if kill is not None:
            final["oom"], final["error_line"] = "host", kill
        if is_disk_full:
            final["outside"], final["full_disk"] = "disk-full", True
        return {**final, "remains": remains}

    def _conclude(self, final: ReportFrame) -> None:
        is_recorded = self._record_exit(final)
        if not is_tree_gone(self.leaf, within_s=_LINGER_S):
            final = self._with_leftovers(final)
            promised = (self._stop_deadline(), self.time_limit.kill_at if self.time_limit else None)
            end_stragglers(self.leaf, self._containment(), [one for one in promised if one is not None])
        crashpoint.reach("shim:before-report")
        self._send(final)
        crashpoint.reach("shim:after-report")
        while not is_recorded:
            time.sleep(_RECORD_AGAIN_S)
            is_recorded = self._record_exit(final)

    def _record_exit(self, final: ReportFrame) -> bool:
        """False if the disk is full: the agent gets the report anyway, and the record follows once there is space."""
        crashpoint.reach("shim:before-exit-record")
        try:
            self.folder.write_durably(EXIT, final)
        except FileNotFoundError:
            return self._record_exit_anew(final)
        except OSError:
            return False
        crashpoint.reach("shim:after-exit-record")
        self.folder.is_on_disk = True
        return True

    def _record_exit_anew(self, final: ReportFrame) -> bool:
        """A user removed the run directory, and an agent may have created it again. Otherwise it is forgotten."""
        try:
            folder = RunFolder(self.folder.parent_fd, str(self.key))
        except OSError:
            return True
        try:
            folder.write_durably(EXIT, final)
        except OSError:
            return False
        finally:
            folder.close()
        return True

    def _with_leftovers(self, final: ReportFrame) -> ReportFrame:
        """Note what is left, in case the shim is killed before it has reported it."""
        leftovers = describe(self._containment().members())
        if leftovers is None or final["type"] != "exited":
            return final
        try:
            self.folder.write(LEFT, {"job": self.key.job, "attempt": self.key.attempt, **leftovers})
        except OSError:
            pass  # the disk is full; the report says it, too
        return {**final, "leftovers": leftovers}

    def _containment(self) -> Containment:
        return PatientContainment(self.leaf, ProcessTree(f"{self.instance}:{self.key}", self.me, self.my_start_time))

    def _stop_deadline(self) -> Optional[float]:
        stop = self._read_stop()
        return None if stop is None else stop["deadline"]

    def _pauses(self) -> Pauses:
        return pauses_of(patiently(lambda: self.folder.read(PAUSED)), self.key)

    def _read_stop(self) -> Optional[Record]:
        """Return the request to stop this attempt, if there is one."""
        stop = patiently(lambda: self.folder.read(STOP))
        return stop if key_of_record(stop) == self.key else None

    def _send(self, frame: Union[ReportFrame, FailingFrame, IdleFrame]) -> None:
        try:
            os.write(self.channel_fd, protocol.encode(frame))
        except OSError:
            pass  # the agent is gone; the next one reads the records


def _limit_record(limit: Optional[Limit]) -> Optional[Record]:
    """For the agent, which enforces the limit if the shim is killed."""
    if limit is None:
        return None
    return {"until": time.monotonic() + limit.seconds, **limit._asdict()}


def _start_time(pid: int) -> int:
    stat = proc.read_stat(pid)
    return stat.start_time if stat else 0


def _write(fd: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(fd, data) :]
    except BrokenPipeError:
        pass  # the command's process has failed to prepare and says why, or was killed
