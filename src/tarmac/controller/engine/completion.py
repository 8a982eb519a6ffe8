"""Completes events, before the core sees them, and errors with what the store and the usage book know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.controller.engine.unknown_runs import SkippedIds, with_records
from tarmac.controller.submit.dependencies import with_outcomes
from tarmac.core.events import JobEdited, JobExited, JobsRetried, JobsSubmitted, NodeJoined, Reported
from tarmac.core.transitions import ImpossibleTransition, story_text

if TYPE_CHECKING:
    from tarmac.controller.gpus.usage import UsageBook
    from tarmac.core.events import Event, RunReport
    from tarmac.core.state import State
    from tarmac.store.reader import Reader


def completed(event: Event, state: State, reader: Reader, skipped: SkippedIds, usage: UsageBook) -> Event:
    """Add how the jobs it depends on ended, or what is stored of attempts that a node reports."""
    if isinstance(event, JobsSubmitted | JobEdited | JobsRetried):
        return with_outcomes(event, state, reader)
    if isinstance(event, Reported) and isinstance(event.report, JobExited) and event.report.oom is not None:
        return replace(event, report=_with_peak(event.report, usage))
    if isinstance(event, NodeJoined):
        event = replace(event, runs=tuple(_with_peak(report, usage) for report in event.runs))
        return with_records(event, state, reader, skipped)
    return event


def _with_peak(report: RunReport, usage: UsageBook) -> RunReport:
    """Add how much GPU memory the attempt used, for a job that requests more when it is retried."""
    if not isinstance(report, JobExited) or report.oom is None:
        return report
    total = usage.book(report.job, report.attempt).total(report.job)
    return replace(report, peak_gpu_memory_bytes=total.peak_gpu_memory_bytes)


def add_stored_story(error: Exception, reader: Reader) -> None:
    """Add what happened to the job before, to find out how it came to this."""
    if isinstance(error, ImpossibleTransition):
        stored = reader.story(error.job)
        error.add_story(story_text(line.at, line.attempt, line.kind, line.detail) for line in stored)
