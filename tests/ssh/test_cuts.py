"""Links that break while jobs run and end: nothing is lost, nothing runs twice, and every exit code is right."""

from collections.abc import Iterator

import pytest

from tests.faults.world import eventually
from tests.services import need
from tests.ssh.fleet import Fleet
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab

NAMES = ["gpu01", "gpu02", "gpu03"]


@pytest.fixture(scope="module")
def fleet(shared_lab: Lab) -> Iterator[Fleet]:
    need("gcc")
    made = Fleet(shared_lab, NAMES, gpus=2)
    yield made
    assert not made.close()


@pytest.fixture(autouse=True)
def healed(fleet: Fleet) -> Iterator[None]:
    yield
    fleet.world.let_go()
    for host in fleet.hosts:
        host.heal()


def start_on_all(fleet: Fleet) -> list[int]:
    """One job on every GPU; they do not end until `let_go`."""
    fleet.world.hold()
    jobs = fleet.world.run(6)
    fleet.running(jobs)
    return jobs


def end_unseen(fleet: Fleet, jobs: list[int]) -> None:
    """Let jobs end, without asking Tarmac."""
    fleet.world.let_go()
    ended = {str(job) for job in jobs}
    eventually(lambda: ended <= {line[0] for line in fleet.world.lines() if line[3] == "end"}, "they have ended")


def test_a_short_cut_is_bridged(fleet: Fleet) -> None:
    """Only the network stops for a moment: the connection itself continues."""
    jobs = start_on_all(fleet)
    links = [fleet.links(host) for host in fleet.hosts]
    for host in fleet.hosts:
        host.cut()
    end_unseen(fleet, jobs)
    for host in fleet.hosts:
        host.heal()
    fleet.expect_all_well()
    assert [fleet.links(host) for host in fleet.hosts] == links


def test_jobs_end_while_their_nodes_are_cut_off(fleet: Fleet) -> None:
    """Cut in both directions, or in one: the controller notices, and keeps the GPUs booked."""
    jobs = start_on_all(fleet)
    for host, direction in zip(fleet.hosts, ("both", "to", "from"), strict=True):
        host.cut(direction)
    end_unseen(fleet, jobs)
    more = fleet.world.run(6)
    eventually(lambda: not any(fleet.is_connected(host) for host in fleet.hosts), "all nodes are noticed to be away")
    assert not set(more) & set(fleet.world.started())
    unseen = [job for job in jobs if fleet.node_of(job) != "gpu02"]  # gpu02 could still tell that its jobs ended
    assert [fleet.world.state(job) for job in unseen] == ["running"] * 4
    assert {fleet.world.state(job) for job in more} <= {"queued", "starting"}
    assert {fleet.node_of(job) for job in more} <= {"None", "gpu02"}
    for host in fleet.hosts:
        host.heal()
    fleet.expect_all_well()


@pytest.mark.parametrize("kind", ["ssh", "sshd", "agent", "controller"])
def test_jobs_end_while_something_is_killed(fleet: Fleet, kind: str) -> None:
    jobs = start_on_all(fleet)
    if kind == "controller":
        assert fleet.world.kill("controller")
    for host in fleet.hosts:
        if kind == "ssh":
            assert fleet.kill_link(host)
        elif kind == "sshd":
            fleet.kill_sshd(host)
        elif kind == "agent":
            assert fleet.kill_agent(host)
    end_unseen(fleet, jobs)
    fleet.world.run(6)
    fleet.expect_all_well()


def test_a_reboot_ends_jobs_and_nothing_is_run_again(fleet: Fleet) -> None:
    fleet.world.hold()
    jobs = fleet.world.run(6)
    fleet.running(jobs)
    host = fleet.hosts[0]
    lost = [job for job in jobs if fleet.node_of(job) == host.name]
    assert len(lost) == 2
    host.reboot()
    eventually(lambda: all(fleet.world.state(job) == "unknown" for job in lost), "the node tells that it was rebooted")
    fleet.world.bereft |= set(lost)
    fleet.world.let_go()
    fleet.world.run(6)
    fleet.expect_all_well()


def test_no_link_is_left(fleet: Fleet) -> None:
    def links(host: Host) -> int:
        return len(fleet.links(host))

    eventually(lambda: [links(host) for host in fleet.hosts] == [1, 1, 1], "there is one link to each host")
