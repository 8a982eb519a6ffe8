"""Where fetched files go: complete or not at all, and never outside of the directory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tarmac.controller.fetch.target import Original, Target, stays_inside

if TYPE_CHECKING:
    from pathlib import Path

SECOND_NS = 10**9


def an_original(path: str, data: bytes = b"new", mtime_s: int = 1000, link: str | None = None) -> Original:
    return Original(path, len(data), 0o640, mtime_s * SECOND_NS, link)


def copy(target: Target, original: Original, data: bytes = b"new") -> None:
    target.write_part(original.path, 0, data)
    target.finish(original)


def test_a_file_gets_its_name_mode_and_time_when_it_is_complete(tmp_path: Path) -> None:
    target, original = Target(str(tmp_path), 7), an_original("out/deep/a")
    target.write_part(original.path, 0, b"ne")
    assert not (tmp_path / "out" / "deep" / "a").exists()
    assert target.part_size(original.path) == 2
    target.write_part(original.path, 2, b"w")
    target.finish(original)
    made = tmp_path / "out" / "deep" / "a"
    assert made.read_bytes() == b"new"
    assert (made.stat().st_mode & 0o777, made.stat().st_mtime_ns) == (0o640, 1000 * SECOND_NS)
    assert os.listdir(made.parent) == ["a"]
    assert target.judge(original) == "same"


@pytest.mark.parametrize(("here_s", "verdict"), [(999, "copy"), (1001, "newer")])
def test_an_older_file_is_replaced_and_a_newer_one_is_kept(tmp_path: Path, here_s: int, verdict: str) -> None:
    (tmp_path / "a").write_text("mine")
    os.utime(tmp_path / "a", (here_s, here_s))
    assert Target(str(tmp_path), 7).judge(an_original("a")) == verdict


def test_a_file_that_was_fetched_before_is_replaced_by_a_later_one(tmp_path: Path) -> None:
    target = Target(str(tmp_path), 7)
    copy(target, an_original("a"))
    assert target.judge(an_original("a", b"newer", mtime_s=2000)) == "copy"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: os.symlink("/etc/passwd", path)])
def test_nothing_but_a_file_is_ever_replaced(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "a")
    target = Target(str(tmp_path), 7)
    assert target.judge(an_original("a")) == "in_the_way"
    assert target.judge(an_original("a", link="b")) == "in_the_way"


def test_no_link_here_is_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "out").symlink_to(outside)
    target = Target(str(inside), 7)
    assert not target.make_directory("out", 0o755)
    for act in (target.judge, target.make_link, target.finish):
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            act(an_original("out/a", link="b"))
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        target.write_part("out/a", 0, b"x")
    assert os.listdir(outside) == []


def test_a_link_in_place_of_the_part_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    (inside / ".tarmac-fetch-7.part").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic links"):
        Target(str(inside), 7).write_part("a", 0, b"x")
    assert not outside.exists()


@pytest.mark.parametrize("path", ["../a", "/a", "x/../../a", "x//a", "", "./a"])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(OSError, match="leads out"):
        Target(str(inside), 7).write_part(path, 0, b"x")
    assert os.listdir(tmp_path) == ["inside"]


def test_a_link_is_made_once(tmp_path: Path) -> None:
    target, original = Target(str(tmp_path), 7), an_original("last", link="epoch3")
    assert target.judge(original) == "copy"
    target.make_link(original)
    assert os.readlink(tmp_path / "last") == "epoch3"
    assert target.judge(original) == "same"


@pytest.mark.parametrize(
    ("path", "link", "is_inside"),
    [
        ("last", "epoch3", True),
        ("a/last", "../b/epoch3", True),
        ("a/b/last", "../../c", True),
        ("last", "../elsewhere", False),
        ("a/last", "../../elsewhere", False),
        ("last", "/etc/passwd", False),
        ("last", "a/../b", False),
        ("last", "", False),
    ],
)
def test_which_links_stay_inside(path: str, link: str, is_inside: bool) -> None:
    assert stays_inside(path, link) is is_inside


def test_a_dropped_part_is_gone(tmp_path: Path) -> None:
    target = Target(str(tmp_path), 7)
    target.write_part("a", 0, b"x")
    target.drop_part("a")
    target.drop_part("none/a")
    assert not list(tmp_path.glob(".*"))
