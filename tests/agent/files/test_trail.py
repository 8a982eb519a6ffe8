"""How a helper follows a path: each step is announced, and mounts that hang are not touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tarmac.agent.files import trail
from tarmac.agent.files.mounts import mount_of, read_mounts
from tarmac.agent.files.trail import Avoided, Trail


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is looked at, in order."""
    found: list[str] = []
    look = os.lstat

    def lstat(path: str) -> os.stat_result:
        found.append(path)
        return look(path)

    monkeypatch.setattr(os, "lstat", lstat)
    return found


def test_links_are_followed_to_where_they_lead(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "relative").symlink_to("real/deep")
    (tmp_path / "absolute").symlink_to(tmp_path / "relative")
    one = Trail()
    one.begin([])
    (tmp_path / "real" / "deep" / "log").touch()
    one.follow(str(tmp_path / "absolute" / ".." / "deep" / "log"))
    assert one.read() == str(tmp_path / "real" / "deep" / "log")
    one.end()
    assert one.read() == ""


def test_a_path_that_does_not_exist_is_followed_as_far_as_it_goes(tmp_path: Path) -> None:
    one = Trail()
    one.begin([])
    one.follow(str(tmp_path / "missing" / "log"))
    assert one.read() == str(tmp_path)


def test_a_loop_of_links_ends(tmp_path: Path, touched: list[str]) -> None:
    loop = [tmp_path / "a", tmp_path / "b"]
    loop[0].symlink_to(loop[1])
    loop[1].symlink_to(loop[0])
    one = Trail()
    one.begin([])
    one.follow(str(loop[0] / "log"))
    looked_at = [path for path in touched if Path(path) in loop]
    assert looked_at[:4] == [str(loop[0]), str(loop[1])] * 2
    assert len(looked_at) == trail._MOST_LINKS + 1
    assert one.read() in map(str, loop)


def test_a_mount_that_hangs_is_not_touched(tmp_path: Path, touched: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    dead = tmp_path / "dead"
    dead.mkdir()
    (tmp_path / "link").symlink_to(dead / "below")
    monkeypatch.setattr(trail, "read_mounts", lambda: [str(dead), "/"])
    one = Trail()
    for path in (dead, dead / "log", tmp_path / "link", tmp_path / "link" / ".." / "log"):
        one.begin([str(dead)])
        with pytest.raises(Avoided) as caught:
            one.follow(str(path))
        assert caught.value.mount == str(dead)
    assert not [path for path in touched if path.startswith(str(dead))]


def test_a_directory_is_looked_at_once_in_a_request(tmp_path: Path, touched: list[str]) -> None:
    one = Trail()
    one.begin([])
    for number in range(50):
        one.follow(str(tmp_path / f"{number}.log"))
    assert touched.count(str(tmp_path)) == 1


def test_the_root_does_not_stand_for_the_mounts_below_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trail, "read_mounts", lambda: [str(tmp_path), "/"])
    one = Trail()
    one.begin(["/"])
    one.follow(str(tmp_path / "log"))
    with pytest.raises(Avoided):
        one.follow("/etc/hostname")


def test_the_mount_of_a_path_is_the_longest_that_contains_it() -> None:
    mounts = ["/mnt/a b/deep", "/mnt/a b", "/mnt", "/"]
    expected = {
        "/mnt/a b": "/mnt/a b",
        "/mnt/a b/x": "/mnt/a b",
        "/mnt/a bc": "/mnt",
        "/mnt/a b/deep/x": "/mnt/a b/deep",
        "/home": "/",
    }
    assert {path: mount_of(path, mounts) for path in expected} == expected
    assert "/proc" in read_mounts()
