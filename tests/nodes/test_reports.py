"""Frames of an agent, as events."""

import pytest

from tarmac.core.events import JobExited
from tarmac.nodes.reports import report_of
from tarmac.shared import protocol


def exited(**more: bool) -> JobExited:
    frame = protocol.exited(1, 2, status=15, pid=9, started_at=1.0, at=2.0, **more)
    report = report_of(frame)
    assert isinstance(report, JobExited)
    return report


@pytest.mark.parametrize("timed_out", [True, False])
def test_an_exit_carries_whether_the_time_limit_caused_it(timed_out: bool) -> None:
    assert exited(timed_out=timed_out).timed_out is timed_out


def test_a_record_without_that_field_means_no() -> None:
    frame = protocol.exited(1, 2, status=15, pid=9, started_at=1.0, at=2.0)
    del frame["timed_out"]
    assert report_of(frame) == exited(timed_out=False)


@pytest.mark.parametrize("signalled", [True, False])
def test_an_exit_carries_whether_a_stop_was_requested_before(signalled: bool) -> None:
    assert exited(signalled=signalled).was_signalled is signalled


def test_a_record_of_an_older_shim_does_not_say_so() -> None:
    frame = protocol.exited(1, 2, status=15, pid=9, started_at=1.0, at=2.0)
    del frame["signalled"]
    report = report_of(frame)
    assert isinstance(report, JobExited)
    assert report.was_signalled is None
