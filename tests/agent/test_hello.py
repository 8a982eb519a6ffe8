"""The answer to a hello waits for what it needs, and costs little while it waits."""

from __future__ import annotations

from pathlib import Path

from tests.agent.run.test_recover import start_waiting
from tests.agent_peer import AgentPeer, Site, start_agent
from tests.nvml.standin import Gpu, Standin

ATTEMPTS = 10
READS_PER_ATTEMPT = 100


def reads(pid: int) -> int:
    """The number of calls of read(2) so far."""
    fields = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return int(fields["syscr"])


def test_waiting_for_the_first_reading_of_the_gpus_reads_each_attempt_once(
    site: Site, peer: AgentPeer, standin: Standin
) -> None:
    """The attempts have GPUs and no origin, as those of an older agent."""
    for job in range(1, ATTEMPTS + 1):
        peer.start(job, argv=["/bin/sleep", "1000"], stdout=site.path("log"), env={"TARMAC_GPUS": "0"})
        peer.expect("started", job)
    site.kill_agent()
    standin.show(Gpu(uuid="GPU-aaaa"), hangs=("count",))
    site.agent = start_agent(site.state, TARMAC_FAKE_GPUS="", TARMAC_CONTAINMENT="scan", **standin.env)
    before = reads(site.agent.pid)
    hello = site.connect().hello
    assert len(hello["guesses"]) == len(hello["runs"]) == ATTEMPTS
    assert reads(site.agent.pid) - before < READS_PER_ATTEMPT * ATTEMPTS


def test_an_answer_to_a_connection_that_is_gone_does_not_reach_the_next(site: Site, peer: AgentPeer) -> None:
    start_waiting(site, peer)
    first = site.connect()
    second = site.connect()
    first.expect_closed()
    second.settle()
    assert [frame for frame in second.inbox if frame["type"] == "hello"] == []
    assert len(second.hello["runs"]) == 1
