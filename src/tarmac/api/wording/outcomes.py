"""What the owner of a job can do about the way it ended, as a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.core.model.note import Note, note
from tarmac.core.model.status import Queued
from tarmac.shared.end_warning import parse_warning

if TYPE_CHECKING:
    from tarmac.core.model.job import Job


class Ending(NamedTuple):
    """How the last attempt ended, as far as the job's status says."""

    reason: str | None
    signal: int | None
    exit_code: int | None
    message: Note | str | None
    has_run: bool


def remedy_words(job: Job) -> str | None:
    """Also for a job that waits for its next attempt: about the attempt before."""
    end = _ending(job)
    match end.reason:
        case "oom-gpu":
            return say("remedy.oom_gpu")
        case "oom-host":
            return say("remedy.oom_host")
        case "killed":
            return say("remedy.killed")
        case "disk-full":
            return _disk_words(end)
        case "no-cwd":
            return say("remedy.no_cwd", job=job.id, cwd=job.spec.cwd)
        case "no-interpreter":
            return say("remedy.no_interpreter")
        case "suspend":
            return say("remedy.suspend")
        case "reboot":
            return say("remedy.reboot", job=job.id)
        case "timeout":
            return say("remedy.timeout")
        case _:
            return _other_remedy(job, end)


def _other_remedy(job: Job, end: Ending) -> str | None:
    if isinstance(end.message, Note) and end.message.key in {"failed.no_secrets", "failed.many_secrets"}:
        return say("remedy.no_secrets", job=job.id)
    return say("remedy.warned", warn=job.spec.warn) if _may_be_warning(job, end) else None


def _ending(job: Job) -> Ending:
    status = job.status
    if isinstance(status, Queued):
        again = status.requeued
        if again is None or again.why != "failed":
            return Ending(None, None, None, None, has_run=False)
        code = again.detail if again.reason == "exit" else None
        return Ending(again.reason, again.detail if code is None else None, code, None, has_run=True)
    return Ending(
        reason=getattr(status, "reason", None),
        signal=getattr(status, "signal", None),
        exit_code=getattr(status, "exit_code", None),
        message=getattr(status, "message", None),
        has_run=getattr(status, "started_at", None) is not None,
    )


def _disk_words(end: Ending) -> str:
    """The disk of the log, if that was full at the start or at the end of the job; otherwise another one."""
    is_log = end.message == note("failed.full_disk")
    return say("remedy.disk_full") if is_log or not end.has_run else say("remedy.other_disk_full")


def _may_be_warning(job: Job, end: Ending) -> bool:
    """True if the signal that warns a job ended it, or the last command of its script."""
    if job.spec.warn is None:
        return False
    number = parse_warning(job.spec.warn).signal
    return end.signal == number or end.exit_code == 128 + number
