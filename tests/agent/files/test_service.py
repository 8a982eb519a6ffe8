"""Questions about files, to a real agent, while a file system hangs."""

from __future__ import annotations

import base64
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent_peer import AgentPeer, Site, children, eventually
from tests.hung_mount import hung
from tests.services import need


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    need("root")
    site = Site(tmp_path / "state", "scan")
    site.state.mkdir()
    site.boot()
    yield site
    site.clean_up()
    assert "unexpected error" not in site.text("agent/agent.log")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.log"
    path.write_bytes(b"good\n")
    return path


@pytest.fixture
def dead(tmp_path: Path) -> Iterator[Path]:
    """A directory whose file system hangs."""
    folder = tmp_path / "dead"
    folder.mkdir()
    with hung(folder):
        yield folder


def read(peer: AgentPeer, path: Path, ref: int = 77) -> None:
    peer.send(type="read_log", ref=ref, path=str(path), offset=0, limit=100)


def is_read(peer: AgentPeer, path: Path) -> bool:
    read(peer, path, ref=999)
    return base64.b64decode(peer.expect("log", ref=999)["data"]) == b"good\n"


def helpers(site: Site) -> list[int]:
    return children(site.agent.pid, "tarmac-files")


def test_only_those_who_ask_for_it_wait(site: Site, peer: AgentPeer, good: Path, dead: Path) -> None:
    """Many at once, in many directories."""
    for ref in range(100):
        read(peer, dead / str(ref) / "log", ref=ref)
    assert is_read(peer, good)
    peer.settle()
    assert not [frame for frame in peer.inbox if frame.get("is_silent")], "before anyone gave up"
    answers = [peer.expect("log", ref=ref) for ref in range(100)]
    assert all(answer["is_silent"] for answer in answers)
    assert {answer["error"].partition(": ")[2] for answer in answers} == {f"{dead} does not answer"}
    assert len(helpers(site)) < 10


def test_once_known_it_is_refused_at_once(site: Site, peer: AgentPeer, good: Path, dead: Path) -> None:
    read(peer, dead / "log")
    assert peer.expect("log", ref=77)["is_silent"]
    link = site.state / "link"
    link.symlink_to(dead)
    for path in (dead / "other", link / "log", dead):
        read(peer, path)
        assert is_read(peer, good)
        assert peer.expect("log", ref=77)["is_silent"]
    answer = peer.ask("tail_log", "log_tail", path=str(dead / "x"), lines=3)
    assert answer["is_silent"]
    peer.send(type="watch_log", ref=5, path=str(dead / "x"), offset=0)
    assert "does not answer" in peer.expect("log_grew", ref=5)["error"]
    assert len(helpers(site)) <= 5


def test_other_paths_of_a_check_are_checked(site: Site, peer: AgentPeer, tmp_path: Path, dead: Path) -> None:
    for _ in range(2):
        answer = peer.ask(
            "check_paths",
            "paths_checked",
            directories=[str(tmp_path), str(dead), str(tmp_path / "none"), str(dead / "below")],
            outputs=[str(tmp_path / "log"), str(dead / "log"), str(tmp_path / "none" / "log")],
        )
        assert answer["directories"] == [True, None, False, None]
        assert answer["outputs"] == ["good", "silent", "no_directory"]
        assert [bool(found) for found in answer["identities"]] == [True, False, False]


def test_it_is_read_again_when_it_answers_again(site: Site, peer: AgentPeer, tmp_path: Path, good: Path) -> None:
    folder = tmp_path / "nfs"
    folder.mkdir()
    (folder / "log").write_bytes(b"good\n")
    with hung(folder):
        read(peer, folder / "log")
        assert peer.expect("log", ref=77)["is_silent"]
    assert eventually(lambda: peer.ask("read_log", "log", path=str(folder / "log"), offset=0, limit=9).get("data"))
    eventually(lambda: len(helpers(site)) <= 4)


def test_a_log_is_followed_when_its_file_system_answers_again(site: Site, peer: AgentPeer, tmp_path: Path) -> None:
    folder = tmp_path / "nfs"
    folder.mkdir()
    with hung(folder):
        peer.send(type="watch_log", ref=5, path=str(folder / "log"), offset=0)
        assert "error" in peer.expect("log_grew", ref=5)
    peer.send(type="watch_log", ref=6, path=str(folder / "log"), offset=0)
    (folder / "log").write_bytes(b"1")
    assert peer.expect("log_grew", ref=6)["size"] == 1


def test_a_start_in_it_hurts_only_its_job(site: Site, peer: AgentPeer, dead: Path) -> None:
    peer.start(1, argv=["true"], cwd=str(dead), stdout=site.path("1.log"))
    peer.start(2, argv=["true"], stdout=str(dead / "2.log"))
    peer.start(3, argv=[str(dead / "program")], stdout=site.path("3.log"))
    peer.start(4, argv=["true"], stdout=site.path("4.log"))
    assert peer.expect("exited", 4)["exit_code"] == 0
    peer.settle()


@pytest.mark.parametrize("is_killable", [True, False])
def test_a_start_that_hangs_can_be_stopped(
    site: Site, peer: AgentPeer, tmp_path: Path, good: Path, is_killable: bool
) -> None:
    """At once, or if not even SIGKILL reaches its process, as soon as the file system answers."""
    folder = tmp_path / "nfs"
    folder.mkdir()
    with hung(folder, is_killable=is_killable):
        peer.start(1, argv=["sleep", "300"], cwd=str(folder), stdout=site.path("1.log"))
        peer.start(2, argv=["sleep", "300"], stdout=str(folder / "2.log"))
        peer.settle()
        for job in (1, 2):
            peer.signal(job, signal.SIGTERM, 0.1)
        assert is_read(peer, good)
        if is_killable:
            assert {final(peer, 1), final(peer, 2)} <= {"launch_failed", "exited"}
    if not is_killable:
        assert {final(peer, 1), final(peer, 2)} <= {"launch_failed", "exited"}


def final(peer: AgentPeer, job: int) -> str:
    """The type of the job's last report."""

    def found() -> str | None:
        peer.settle()
        kinds = [str(frame["type"]) for frame in peer.inbox if frame.get("job") == job]
        return next((kind for kind in kinds if kind != "started"), None)

    return str(eventually(found, f"the end of job {job}"))


def test_a_frozen_helper_is_replaced(site: Site, peer: AgentPeer, good: Path) -> None:
    assert is_read(peer, good)
    frozen = helpers(site)
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    read(peer, good)
    assert peer.expect("log", ref=77)["is_silent"]
    assert is_read(peer, good)
    eventually(lambda: not set(frozen) & set(helpers(site)))


def test_a_killed_helper_is_replaced(site: Site, peer: AgentPeer, good: Path) -> None:
    assert is_read(peer, good)
    for _ in range(3):
        for pid in helpers(site):
            os.kill(pid, signal.SIGKILL)
        assert is_read(peer, good)


def test_helpers_end_with_the_agent(site: Site, peer: AgentPeer, good: Path) -> None:
    assert is_read(peer, good)
    pids = helpers(site)
    assert pids
    site.kill_agent()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
