"""A process killed at each crash point: the attempt runs at most once, and its exit is known or reported as unknown."""

from __future__ import annotations

import os

import pytest

from tests.agent_peer import Site, eventually, marked

BEFORE_RELEASE = ("before-fork", "after-fork", "before-start-record")
AFTER_RECORD = (
    "after-start-record",
    "before-release",
    "after-release",
    "before-exec",
    "after-exec",
    "before-exit-record",
)
AFTER_EXIT = ("after-exit-record", "before-report", "after-report")


def command(site: Site) -> str:
    return f"echo ran >> {site.path('witness')}; exit 42"


@pytest.mark.parametrize(
    "point", ["before-mkdir", "after-mkdir", "before-fork", "after-fork", "before-report", "after-report"]
)
def test_agent_killed_while_starting_a_job(site: Site, point: str) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT=f"agent:{point}")
    peer.start(1, shell=command(site), stdout=site.path("log"))
    assert site.agent.wait(20) == -9
    peer = site.boot()
    reported = [run["job"] for run in peer.hello["runs"]]
    peer.start(1, shell=command(site), stdout=site.path("log"), append=True)
    assert reported in ([], [1])
    assert peer.expect("exited", 1)["exit_code"] == 42
    assert site.text("witness") == "ran\n"


@pytest.mark.parametrize("point", ["before-forget", "after-forget"])
def test_agent_killed_while_forgetting(site: Site, point: str) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT=f"agent:{point}")
    peer.start(1, shell=command(site), stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    peer.forget(1)
    assert site.agent.wait(20) == -9
    peer = site.boot()
    assert peer.hello["runs"] in ([], [exited])
    peer.forget(1)
    eventually(lambda: not os.listdir(site.path("agent/runs")))


@pytest.mark.parametrize("point", BEFORE_RELEASE)
def test_shim_killed_before_its_record_is_replaced(site: Site, point: str) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT=f"shim:{point}")
    peer.start(1, shell=command(site), stdout=site.path("log"))
    assert peer.expect("exited", 1)["exit_code"] == 42
    assert site.text("witness") == "ran\n"


@pytest.mark.parametrize("point", AFTER_RECORD)
def test_shim_killed_after_its_record_is_lost_and_never_replaced(site: Site, point: str) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT=f"shim:{point}")
    peer.start(1, shell=command(site), stdout=site.path("log"))
    lost = peer.expect("exited" if point == "before-exec" else "lost", 1)
    if lost.get("alive"):
        peer.expect("gone", 1)
    peer.start(1, shell=command(site), stdout=site.path("log"), append=True)
    peer.settle()
    assert site.text("witness") in ("", "ran\n")
    assert not marked(site.mark)


@pytest.mark.parametrize("point", AFTER_EXIT)
def test_shim_killed_after_the_exit_record_changes_nothing(site: Site, point: str) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT=f"shim:{point}")
    peer.start(1, shell=command(site), stdout=site.path("log"))
    assert peer.expect("exited", 1)["exit_code"] == 42
    assert site.text("witness") == "ran\n"


def test_nth_shim_is_counted(site: Site) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT="shim:after-start-record@2")
    for job in (1, 2, 3):
        peer.start(job, shell=command(site), stdout=site.path(f"log{job}"))
        peer.expect("lost" if job == 2 else "exited", job)
    peer.settle()
    assert not [frame for frame in peer.inbox if frame["type"] in {"lost", "exited"}], "one end for each"


def test_crash_point_does_not_reach_the_job(site: Site) -> None:
    site.stop_agent()
    peer = site.boot(TARMAC_CRASH_AT="shim:before-fork@100")
    peer.start(1, shell="echo [$TARMAC_CRASH_AT]", stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "[]\n"
