"""Frames of an agent, as events."""

from typing import Any

import pytest

from tarmac.core.events import JobExited, JobLost, JobStarted, LaunchFailed, RunReport, TreeGone
from tarmac.nodes.node_clock import NodeClock
from tarmac.nodes.reports import readings_of, report_of
from tarmac.shared import protocol
from tarmac.shared.system.boot_clock import Moment

STARTED, ENDED = Moment(1000.0, 10.0), Moment(1020.0, 30.0)


class Clocks:
    """The controller's clocks. The node's boot clock showed 40 when ours showed 540."""

    def __init__(self) -> None:
        self.wall, self.boot_s = 90_000.0, 540.0
        self.node = NodeClock(lambda: self.wall, lambda: self.boot_s)
        self.node.relate(40.0, 1030.0)

    def report(self, frame: Any) -> RunReport:
        return report_of(frame, self.node)


def exit_frame(**more: Any) -> Any:
    return {**protocol.exited(1, 2, status=15, pid=9, started=STARTED, ended=ENDED), **more}


def exited(frame: Any) -> JobExited:
    report = Clocks().report(frame)
    assert isinstance(report, JobExited)
    return report


@pytest.mark.parametrize("timed_out", [True, False])
def test_an_exit_carries_whether_the_time_limit_caused_it(timed_out: bool) -> None:
    assert exited(exit_frame(timed_out=timed_out)).timed_out is timed_out


def test_a_record_without_that_field_means_no() -> None:
    frame = exit_frame()
    del frame["timed_out"]
    assert exited(frame) == exited(exit_frame(timed_out=False))


@pytest.mark.parametrize("oom", ["gpu", "host"])
def test_an_exit_names_the_memory_that_ran_out_and_the_line_that_says_so(oom: str) -> None:
    report = exited({**exit_frame(), "oom": oom, "error_line": "CUDA out of memory"})
    assert (report.oom, report.error_line) == (oom, "CUDA out of memory")


def test_an_exit_of_another_agent_may_name_none_or_an_unknown_memory() -> None:
    assert (exited(exit_frame()).oom, exited(exit_frame()).error_line) == (None, None)
    assert exited({**exit_frame(), "oom": "swap"}).oom is None


@pytest.mark.parametrize("outside", ["killed", "disk-full", "no-cwd", "no-interpreter", "suspend", "reboot"])
def test_an_exit_names_what_ended_it_from_outside(outside: str) -> None:
    assert exited(exit_frame(outside=outside)).outside == outside
    assert exited(exit_frame(outside="a newer word")).outside is None
    assert exited(exit_frame()).outside is None


def test_an_older_agent_reports_a_full_disk_in_its_own_way() -> None:
    report = exited(exit_frame(full_disk=True))
    assert (report.outside, report.is_log_disk_full) == ("disk-full", True)
    assert not exited(exit_frame(outside="disk-full")).is_log_disk_full, "another disk"


def test_a_launch_names_what_was_missing_and_a_loss_what_caused_it() -> None:
    launch = {"type": "launch_failed", "job": 1, "attempt": 2, "message": "x", "at": 1000.0}
    lost = {"type": "lost", "job": 1, "attempt": 2, "message": "x", "alive": False, "at": 1000.0}
    for frame, outside in ((launch, None), ({**launch, "outside": "no-cwd"}, "no-cwd")):
        failed = Clocks().report(frame)
        assert isinstance(failed, LaunchFailed)
        assert failed.outside == outside
    for frame, loss in ((lost, "lost"), ({**lost, "loss": "reboot"}, "reboot"), ({**lost, "loss": "?"}, "lost")):
        report = Clocks().report(frame)
        assert isinstance(report, JobLost)
        assert report.loss == loss


@pytest.mark.parametrize("signalled", [True, False])
def test_an_exit_carries_whether_a_stop_was_requested_before(signalled: bool) -> None:
    assert exited(exit_frame(signalled=signalled)).was_signalled is signalled


def test_a_record_of_an_older_shim_does_not_say_so() -> None:
    frame = exit_frame()
    del frame["signalled"]
    assert exited(frame).was_signalled is None


def test_times_are_by_our_clock() -> None:
    """The node's wall clock is a day behind ours."""
    report = exited(exit_frame())
    assert (report.started_at, report.ended_at) == (89_970.0, 89_990.0)


def test_a_late_report_says_when_it_happened() -> None:
    clocks = Clocks()
    clocks.wall, clocks.boot_s = clocks.wall + 600.0, clocks.boot_s + 600.0
    report = clocks.report(exit_frame())
    assert isinstance(report, JobExited)
    assert report.ended_at == 89_990.0


@pytest.mark.parametrize("step_s", [-7200.0, 7200.0])
def test_how_long_it_ran_does_not_depend_on_a_clock_that_was_set_meanwhile(step_s: float) -> None:
    """On our side, or on the node's, whose end then has another wall time."""
    ours = Clocks()
    ours.wall += step_s
    theirs = protocol.exited(1, 2, status=0, pid=9, started=STARTED, ended=Moment(ENDED.at + step_s, ENDED.boot_s))
    for report in (ours.report(exit_frame()), Clocks().report(theirs)):
        assert isinstance(report, JobExited)
        assert report.ended_at - report.started_at == 20.0
    assert exited(theirs).ended_at == 89_990.0


def test_an_exit_before_a_reboot_still_says_how_long_it_ran() -> None:
    report = exited({**exit_frame(), "ended_s": None})
    assert (report.started_at, report.ended_at) == (1020.0 + 88_970.0 - 20.0, 1020.0 + 88_970.0)


def test_a_record_of_an_older_shim_has_only_wall_times() -> None:
    frame = exit_frame()
    del frame["ended_s"], frame["ran_s"]
    clocks = Clocks()
    clocks.node.relate(None, None)
    report = clocks.report(frame)
    assert isinstance(report, JobExited)
    assert (report.started_at, report.ended_at) == (1000.0, 1020.0)


def test_every_report_is_by_our_clock() -> None:
    clocks = Clocks()
    started = clocks.report(protocol.started(1, 2, pid=3, at=STARTED))
    assert isinstance(started, JobStarted)
    assert started.started_at == 89_970.0
    failed = clocks.report(protocol.launch_failed(1, 2, message="x", at=ENDED))
    assert isinstance(failed, LaunchFailed)
    assert failed.at == 89_990.0
    lost = clocks.report(protocol.lost(1, 2, message="x", alive=False, at=ENDED, started_s=STARTED.boot_s))
    assert isinstance(lost, JobLost)
    assert (lost.started_at, lost.at) == (89_970.0, 89_990.0)
    gone = clocks.report(protocol.gone(1, 2, at=ENDED, started_s=STARTED.boot_s))
    assert isinstance(gone, TreeGone)
    assert (gone.started_at, gone.at) == (89_970.0, 89_990.0)


def test_nothing_happened_in_the_future() -> None:
    """A hello that was read late makes the node's clock seem slow."""
    clocks = Clocks()
    clocks.node.relate(30.0, 1020.0)
    report = clocks.report(protocol.started(1, 2, pid=3, at=Moment(1030.0, 40.0)))
    assert isinstance(report, JobStarted)
    assert report.started_at == clocks.wall


def test_processes_on_gpus_and_lost_gpus_are_by_our_clock_too() -> None:
    process = {"pid": 5, "started_at": 1010.0, "start_time": 2000}
    frame = {"gpus": [{"index": 0, "uuid": "GPU-a", "gone_since": 1020.0, "processes": [process]}]}
    ((gpu,), _) = readings_of(frame, Clocks().node)
    assert gpu.processes[0].started_at == 89_980.0
    assert gpu.gone_since == 89_990.0


def test_the_same_moment_gives_the_same_time_as_long_as_no_clock_is_set() -> None:
    """Reading two clocks one after the other takes a varying time; a reading must not seem to change because of it."""
    clocks = Clocks()
    first = clocks.node.convert(0.0, 20.0)
    clocks.wall, clocks.boot_s = clocks.wall + 5.0, clocks.boot_s + 5.001
    assert clocks.node.convert(0.0, 20.0) == first


def test_a_hello_that_waited_does_not_move_the_times_of_our_own_machine() -> None:
    clocks = Clocks()
    clocks.node.relate(clocks.boot_s - 3.0, clocks.wall - 3.0, is_same_boot=True)
    assert clocks.node.convert(0.0, clocks.boot_s - 5.0) == clocks.wall - 5.0
    assert clocks.node.convert(clocks.wall - 5.0, None) == clocks.wall - 5.0
