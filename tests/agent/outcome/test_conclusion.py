"""What is reported of a failed attempt: the shim's findings, those of the files, and which counts more."""

from typing import Any

import pytest

from tarmac.agent.outcome.conclusion import conclude, failed_record, of_earlier_boot, question
from tarmac.shared import protocol
from tarmac.shared.system.boot_clock import Moment


def record(status: int = 256, **more: Any) -> Any:
    remains = {"outputs": [{"path": "/log", "begin": 0}], "cwd": "/", "cwd_inode": 2, "suspended_s": 0.0}
    frame = protocol.exited(1, 2, status=status, pid=3, started=Moment(4.0), ended=Moment(5.0))
    return {**frame, "remains": remains, **more}


def found(**more: Any) -> Any:
    return {"type": "examined", **more}


@pytest.mark.parametrize(
    ("known", "examined", "oom", "outside"),
    [
        (record(), found(), None, None),
        (record(), found(oom="gpu", error_line="x"), "gpu", None),
        (record(), found(outside="no-cwd"), None, "no-cwd"),
        (record(9), found(), None, "killed"),
        (record(137 << 8), found(), None, "killed"),
        (record(9), found(oom="gpu"), "gpu", None),
        (record(9, oom="host", error_line="kernel"), found(oom="gpu", error_line="x"), "host", None),
        (record(outside="disk-full"), found(outside="no-cwd"), None, "disk-full"),
        (record(outside="disk-full"), found(oom="gpu"), "gpu", None),
        (record(outside="disk-full"), None, None, "disk-full"),
        (record(9), None, None, "killed"),
        (record(9, signalled=True), found(oom="gpu"), None, None),
        (record(9, timed_out=True, outside="disk-full"), found(), None, None),
        (record(11), found(), None, None),
    ],
)
def test_the_most_specific_finding_counts(known: Any, examined: Any, oom: str | None, outside: str | None) -> None:
    report = conclude(known, examined)
    assert (report.get("oom"), report.get("outside")) == (oom, outside)
    assert "remains" not in report
    assert report.get("error_line") == (known.get("error_line") or (examined or {}).get("error_line") if oom else None)


def test_the_disk_of_the_log_is_named_only_if_it_is_the_reason() -> None:
    full = {"outside": "disk-full", "full_disk": True}
    assert conclude(record(**full), found()).get("full_disk")
    for other in (record(9, timed_out=True, **full), record(15, signalled=True, **full), record(9, oom="host", **full)):
        assert "full_disk" not in conclude(other, found())
    assert "full_disk" not in conclude(record(), found(outside="disk-full"))


def test_what_was_asked_to_stop_is_not_examined() -> None:
    assert question(record(15, signalled=True)) is None
    assert question(record(15, timed_out=True)) is None
    asked = question(record(15))
    assert asked is not None
    assert asked["outputs"] == [{"path": "/log", "begin": 0}]


def test_records_of_older_shims_are_reported_as_they_are() -> None:
    older = record()
    del older["remains"]
    assert failed_record(older) is None
    without = record()
    del without["timed_out"]
    assert "remains" not in conclude(without, None)


@pytest.mark.parametrize(
    ("final", "outside"),
    [(record(15), "reboot"), (record(9), "reboot"), (record(11), None), (record(15, signalled=True), None)],
)
def test_a_signal_of_a_shutdown(final: Any, outside: str | None) -> None:
    report: Any = of_earlier_boot(final)
    assert (report.get("outside"), report["ended_s"]) == (outside, None)
