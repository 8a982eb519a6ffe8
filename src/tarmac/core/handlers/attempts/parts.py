"""The parts of an attempt on several nodes: they are started, stopped and counted as one.

The first part starts alone. Its report names the port for MASTER_PORT, and only then are the others sent. Once a part
ends badly or is lost, the others are asked to stop, and parts that were not sent are never sent. The attempt is over
when all parts are, and its outcome is that of the part that ended badly first.

Each step is stored before its commands are sent, and a node that comes back without a trace of a part gets the same
command again: no part is started twice, and none is forgotten.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.core.commands import Command, PauseJob, StartJob
from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, TreeGone, is_final
from tarmac.core.handlers.attempts.run_commands import stop_signal
from tarmac.core.handlers.attempts.run_outcomes import asked_grace_s
from tarmac.core.model.note import note
from tarmac.core.model.part import PartEnd, PartEndKind, PartsProgress, PartStart
from tarmac.core.model.status import Booked, Paused, Starting, Unknown
from tarmac.core.story import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.core.events import RunReport
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.core.model.note import Note
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State

_KINDS: dict[type[Any], PartEndKind] = {
    JobExited: "exited",
    LaunchFailed: "launch_failed",
    JobLost: "lost",
    TreeGone: "gone",
}


class Noted(NamedTuple):
    """What follows from the report of a part."""

    commands: Sequence[Command]
    of_all: RunReport | None = None  # the report that counts for the attempt, if there is one now


NOTHING = Noted(())


def has_parts(job: Job) -> bool:
    return isinstance(job.status, Booked) and bool(job.status.booking.others)


def note_report(state: State, job: Job, node: NodeName, report: RunReport, now: float) -> Noted:
    """Store what a node reports about its part. A report that is known already changes nothing."""
    booking = _booking(job)
    part, progress = booking.nodes.index(node), _progress(booking)
    if progress.end_of(part) is not None:
        return NOTHING
    if isinstance(report, JobStarted):
        return NOTHING if progress.has_started(part) else _start(state, job, part, report, now)
    if is_final(report):
        return _end(state, job, _end_of(part, report), now)
    return _lose(state, job, part, report)


def note_never(state: State, job: Job, node: NodeName, now: float) -> Noted:
    """A part that was to be stopped left no trace on its node: it did not start, and will not."""
    return _end(state, job, PartEnd(part=_booking(job).nodes.index(node), kind="never", at=now), now)


def note_forgotten(state: State, job: Job, node: NodeName, message: Note, now: float) -> Noted:
    """A person said that the node is gone, and its part with it. What the job has there is released."""
    booking = _booking(job)
    part, progress = booking.nodes.index(node), _progress(booking)
    state.let_go(job, state.node(node), booking.gpus_on(node))
    _store(state, job, replace(progress, forgotten=(*progress.forgotten, part)))
    if progress.end_of(part) is not None:
        return NOTHING
    return _end(state, job, PartEnd(part=part, kind="lost", at=now, message=message), now)


def is_ending(job: Job) -> bool:
    """True if no further part may start: the attempt was asked to stop, or one of its parts ended badly."""
    status, booking = job.status, _booking(job)
    return _is_asked(job) or isinstance(status, Unknown) or _progress(booking).cause is not None


def _is_asked(job: Job) -> bool:
    """Did a person, a preemption or a stop of the queue ask all of it to stop?"""
    assert isinstance(job.status, Booked)
    return asked_grace_s(job.status) is not None


def without_unsent(booking: Booking, now: float) -> Booking:
    """The parts that have not been sent will not be sent. For an attempt that is asked to stop."""
    if not booking.others or _progress(booking).are_others_sent:
        return booking
    return replace(booking, progress=_drop_unsent(booking, _progress(booking), now))


def signals(job: Job, grace_s: float, *, is_requeued: bool = False) -> list[Command]:
    """Ask every part that may have processes to stop."""
    nodes = _booking(job).open_nodes
    return [stop_signal(job, name, grace_s, is_requeued=is_requeued) for name in nodes]


def signal_again(job: Job, node: NodeName) -> list[Command]:
    """Repeat the stop of a part whose node may have missed it: another part ended badly."""
    booking = _booking(job)
    cause = _progress(booking).cause
    is_meant = cause is not None and booking.nodes[cause] != node and node in booking.open_nodes
    return [stop_signal(job, node, job.spec.grace_s)] if is_meant else []


def start_again(job: Job, node: NodeName) -> StartJob:
    """The node has no trace of the part: the command did not arrive."""
    booking = _booking(job)
    return _start_part(job, booking, booking.nodes.index(node))


# Reports


def _start(state: State, job: Job, part: int, report: JobStarted, now: float) -> Noted:
    booking = _booking(job)
    progress = _progress(booking)
    started = PartStart(part=part, pid=report.pid, started_at=report.started_at)
    progress = replace(progress, starts=(*progress.starts, started))
    if part:
        _store(state, job, progress)
        detail = {"part": part, "on": booking.nodes[part], "pid": report.pid}
        tell(state, job, "PartStarted", now, detail)
        is_first = isinstance(job.status, Starting)  # the first part ended well before its start was reported
        return Noted([_freeze(job, part)] if isinstance(job.status, Paused) else [], report if is_first else None)
    progress = replace(progress, port=report.port)
    sends = isinstance(job.status, Starting) and not progress.are_others_sent
    _store(state, job, replace(progress, are_others_sent=progress.are_others_sent or sends))
    return Noted(_start_others(job) if sends else [], report)


def _end(state: State, job: Job, end: PartEnd, now: float) -> Noted:
    booking, was_ending = _booking(job), is_ending(job)
    progress = _progress(booking)
    progress = replace(progress, ends=(*progress.ends, end))
    if end.is_bad and progress.cause is None and not _is_asked(job):
        progress = _drop_unsent(booking, replace(progress, cause=end.part), now)
    sends = not progress.are_others_sent and progress.cause is None and not was_ending
    progress = replace(progress, are_others_sent=progress.are_others_sent or sends)
    _store(state, job, progress)
    detail = {"part": end.part, "on": booking.nodes[end.part], "how": end.kind}
    tell(state, job, "PartEnded", now, detail | {"exit_code": end.exit_code, "signal": end.signal})
    if len(progress.ends) == len(booking.nodes):
        return Noted([], _report_of_all(job, progress))
    if sends:  # the first part ended well before its start was reported
        return Noted(_start_others(job))
    return Noted([] if was_ending or progress.cause is None else signals(job, job.spec.grace_s))


def _lose(state: State, job: Job, part: int, report: RunReport) -> Noted:
    """The shim of a part was killed, and its processes are left. They are the owner's to stop; the others end now."""
    booking, was_ending = _booking(job), is_ending(job)
    progress = _progress(booking)
    if progress.cause is not None or _is_asked(job):
        return Noted([], report)
    assert isinstance(report, JobLost)
    _store(state, job, _drop_unsent(booking, replace(progress, cause=part), report.at))
    others = (name for name in _booking(job).open_nodes if name != booking.nodes[part])
    return Noted([] if was_ending else [stop_signal(job, name, job.spec.grace_s) for name in others], report)


def _report_of_all(job: Job, progress: PartsProgress) -> RunReport:
    """The report that decides how the attempt ended: that of the part because of which the others were stopped.

    If there is none, because all ended well or were asked to stop: of one whose end is not known, else of the first
    that ended badly, else of one that was still running when it was asked to stop, else of the first part.
    """
    ends = {end.part: end for end in progress.ends}
    ranks = (lambda end: end.kind in {"lost", "gone"}, lambda end: end.is_bad, lambda end: bool(end.was_signalled))
    known = (next(filter(rank, progress.ends), None) for rank in ranks)
    deciding = ends[progress.cause] if progress.cause is not None else next(filter(None, known), ends[0])
    at = max(end.at for end in progress.ends)
    peaks = [end.peak_gpu_memory_bytes for end in progress.ends if end.peak_gpu_memory_bytes is not None]
    first = next((start for start in progress.starts if start.part == 0), None)
    values = {one.name: getattr(deciding, one.name) for one in fields(deciding)}
    values |= {"job": job.id, "attempt": job.attempt, "at": at, "ended_at": at, "is_alive": False}
    values["peak_gpu_memory_bytes"] = max(peaks, default=None)
    if first is not None:
        values |= {"pid": first.pid, "started_at": first.started_at}
    kind = next((kind for kind, name in _KINDS.items() if name == deciding.kind), LaunchFailed)
    if deciding.message is None:
        values["message"] = note("failed.stopped_part")  # of a part that was not started
    report: RunReport = kind(**{one.name: values[one.name] for one in fields(kind)})
    return report


def _end_of(part: int, report: RunReport) -> PartEnd:
    known = {one.name for one in fields(PartEnd)}
    values = {one.name: getattr(report, one.name) for one in fields(report) if one.name in known}
    at = report.ended_at if isinstance(report, JobExited) else values["at"]
    return PartEnd(**{**values, "part": part, "kind": _KINDS[type(report)], "at": at})


# Progress


def _booking(job: Job) -> Booking:
    assert isinstance(job.status, Booked)
    return job.status.booking


def _progress(booking: Booking) -> PartsProgress:
    return booking.progress or PartsProgress()


def _store(state: State, job: Job, progress: PartsProgress) -> None:
    assert isinstance(job.status, Booked)
    state.enter(job, replace(job.status, booking=replace(job.status.booking, progress=progress)))


def _drop_unsent(booking: Booking, progress: PartsProgress, now: float) -> PartsProgress:
    if progress.are_others_sent:
        return progress
    over = {end.part for end in progress.ends}
    unsent = (PartEnd(part=part, kind="never", at=now) for part in range(1, len(booking.nodes)) if part not in over)
    return replace(progress, ends=(*progress.ends, *unsent))


# Commands


def _start_others(job: Job) -> list[Command]:
    booking = _booking(job)
    over = {end.part for end in _progress(booking).ends}
    return [_start_part(job, booking, part) for part in range(1, len(booking.nodes)) if part not in over]


def _start_part(job: Job, booking: Booking, part: int) -> StartJob:
    port = _progress(booking).port if part else None
    return StartJob(job=job.id, attempt=job.attempt, booking=booking, part=part, port=port)


def _freeze(job: Job, part: int) -> PauseJob:
    """The part started after the others were paused."""
    assert isinstance(job.status, Paused)
    name = job.status.booking.nodes[part]
    return PauseJob(node=name, job=job.id, attempt=job.attempt, is_paused=True, is_counted=job.status.is_counted)
