"""The base directory of the cgroups: it exists while any process is contained, and is removed afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.agent_peer import AgentPeer, Site, eventually

pytestmark = pytest.mark.parametrize("site", ["cgroup"], indirect=True)


def leaf_of(site: Site, job: int) -> Path:
    return Path(site.record(job)["cgroup"])


def leaves(base: Path) -> list[Path]:
    return [Path(entry.path) for entry in os.scandir(base) if entry.is_dir()]


def shut_down(site: Site, peer: AgentPeer) -> None:
    peer.send(type="shutdown")
    assert site.agent.wait(20) == 0


def test_nothing_is_left_once_agent_and_jobs_have_ended(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["true"], stdout=site.path("log"))
    peer.expect("exited", 1)
    base = leaf_of(site, 1).parent
    assert base.exists()
    shut_down(site, peer)
    eventually(lambda: not base.exists(), "the end of the base")


def test_nothing_is_left_of_a_job_whose_shim_was_killed(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["sleep", "100"], stdout=site.path("log"))
    pid = peer.expect("started", 1)["pid"]
    base = leaf_of(site, 1).parent
    os.kill(site.record(1)["shim_pid"], 9)
    peer.expect("lost", 1)
    os.kill(pid, 9)
    peer.expect("gone", 1)
    assert base.exists()
    shut_down(site, peer)
    eventually(lambda: not base.exists(), "the end of the base")


def test_killed_agent_leaves_no_cgroup_behind(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["true"], stdout=site.path("log"))
    peer.expect("exited", 1)
    base = leaf_of(site, 1).parent
    assert base.exists()
    site.kill_agent()
    eventually(lambda: not base.exists(), "the end of the base")


def test_base_stays_for_a_job_that_outlives_its_agent_and_is_created_again(site: Site, peer: AgentPeer) -> None:
    script = f"while [ ! -e {site.path('go')} ]; do sleep 0.01; done; exit 42"
    peer.start(1, shell=script, stdout=site.path("log"))
    peer.expect("started", 1)
    leaf = leaf_of(site, 1)
    shut_down(site, peer)
    eventually(lambda: leaves(leaf.parent) == [leaf], "the end of the idle shims")
    Path(site.path("go")).touch()
    eventually(lambda: not leaf.parent.exists(), "the end of the base")
    peer = site.boot()
    assert peer.hello["containment"] == "cgroup"
    assert [(run["type"], run["exit_code"]) for run in peer.hello["runs"]] == [("exited", 42)]
    peer.start(2, argv=["cat", "/proc/self/cgroup"], stdout=site.path("log2"))
    peer.expect("exited", 2, exit_code=0)
    assert f"/{leaf.parent.name}/{leaf_of(site, 2).name}\n" in site.text("log2")


def test_agent_that_starts_while_old_shims_end_still_contains_its_jobs(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 21):
        peer.start(job, argv=["cat", "/proc/self/cgroup"], stdout=site.path(f"log{job}"))
        peer.expect("exited", job, exit_code=0)
        assert leaf_of(site, job).name in site.text(f"log{job}")
        peer.forget(job)
        site.kill_agent()
        peer = site.boot()
        assert peer.hello["containment"] == "cgroup"
