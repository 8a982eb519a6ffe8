"""Tarmac's own files are recognized by any path, before they exist."""

import os
from pathlib import Path

import pytest

from tarmac.shared.own.files import OwnFiles


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    (state / "agent" / "runs").mkdir(parents=True)
    (state / "logs").mkdir()
    (state / "tarmac.db").touch()
    (state / "agent" / "node").touch()
    return state


@pytest.mark.parametrize(
    "name", ["tarmac.db", "new", "agent/runs/1.1", "none/new", "logs/1.1.log", "logs/../new", "logs/sub/../2.10.log"]
)
def test_its_own(state: Path, name: str) -> None:
    assert OwnFiles([str(state)]).includes(f"{state}/{name}")


@pytest.mark.parametrize("name", ["logs/mine.log", "logs/sub/1.1.log", "../new", "../state.log"])
def test_others(state: Path, name: str) -> None:
    assert not OwnFiles([str(state)]).includes(f"{state}/{name}")


def test_links(state: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(state)
    (tmp_path / "dangling").symlink_to(state / "new")
    os.link(state / "tarmac.db", tmp_path / "hard")
    os.link(state / "agent" / "node", tmp_path / "hard2")
    own = OwnFiles([str(tmp_path / "alias"), str(tmp_path / "missing")])
    for name in ("alias/new", "dangling", "hard", "hard2"):
        assert own.includes(str(tmp_path / name)), name
    (tmp_path / "one").touch()
    os.link(tmp_path / "one", tmp_path / "two")
    assert not own.includes(str(tmp_path / "two"))


def test_logs_on_another_disk(state: Path, tmp_path: Path) -> None:
    (state / "logs").rmdir()
    (tmp_path / "big").mkdir()
    (state / "logs").symlink_to(tmp_path / "big")
    own = OwnFiles([str(state)])
    assert own.includes(str(tmp_path / "big" / "4.1.log"))
    assert not own.includes(str(tmp_path / "big" / "mine.log"))
