"""Why an attempt failed is examined while its exit record is written, but not before its output is complete."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from tarmac.agent.loop import Loop
from tarmac.agent.run.examination import Examination
from tarmac.agent.run.shim_channel import ShimChannel
from tarmac.shared.protocol import encode
from tests.agent_peer import AgentPeer, Site

OOM = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


class Host:
    def __init__(self) -> None:
        self.asked: list[Callable[[Any], None]] = []

    def examine(self, _: Any, done: Callable[[Any], None]) -> None:
        self.asked.append(done)


@pytest.mark.parametrize("is_report_first", [True, False])
def test_the_answer_is_kept_for_the_report_or_the_report_waits_for_it(is_report_first: bool) -> None:
    host, found = Host(), []
    examination = Examination(host, {})  # type: ignore[arg-type,typeddict-item]
    assert len(host.asked) == 1, "at once"
    if is_report_first:
        examination.then(found.append)
    host.asked[0]({"oom": "gpu"})
    if not is_report_first:
        examination.then(found.append)
    assert found == [{"oom": "gpu"}]


def test_a_shim_says_that_its_command_failed_before_it_reports_that() -> None:
    class Listener:
        def __init__(self) -> None:
            self.heard: list[tuple[str, Any]] = []

        def shim_failing(self, record: Any) -> None:
            self.heard.append(("failing", record))

        def shim_reported(self, report: Any) -> None:
            self.heard.append(("report", report["exit_code"]))

        def shim_is_idle(self) -> None:
            self.heard.append(("idle", None))

        def shim_closed(self) -> None:
            self.heard.append(("closed", None))

    ours, theirs = socket.socketpair()
    listener = Listener()
    channel = ShimChannel(Loop(), ours, listener, "job 1.1")
    for frame in (
        {"type": "failing", "record": {"exit_code": 3}},
        {"type": "exited", "exit_code": 3},
        {"type": "idle"},
    ):
        theirs.sendall(encode(frame))  # type: ignore[arg-type]
    theirs.close()
    channel.drain()
    assert listener.heard == [("failing", {"exit_code": 3}), ("report", 3), ("idle", None), ("closed", None)]


def test_what_a_process_writes_after_the_command_ended_is_examined(site: Site, peer: AgentPeer) -> None:
    late = f"(trap '' TERM; sleep 0.2; echo '{OOM}') & exit 1"
    peer.start(1, shell=late, stdout=site.path("log1"))
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited.get("oom"), exited.get("error_line")) == (1, "gpu", OOM)


def test_a_failure_is_examined_with_and_without_other_files(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell=f"echo '{OOM}' >&2; exit 1", stdout=site.path("log1"), stderr=site.path("err1"))
    exited = peer.expect("exited", 1)
    assert (exited.get("oom"), exited.get("error_line")) == ("gpu", OOM)
    assert "remains" not in exited
