"""Which directory is a virtual environment, and which one was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarmac.agent.environments.venv import is_venv, look_at_venv
from tests.agent.environments.prefixes import make_venv


def test_a_virtual_environment_is_recognized(tmp_path: Path) -> None:
    made = make_venv(tmp_path / "made")
    assert look_at_venv(str(made), str(tmp_path)) == (True, None)
    (made / "pyvenv.cfg").unlink()
    (made / "bin" / "activate").touch()
    assert is_venv(str(made)), "as older versions of virtualenv made it"
    for python in (made / "bin").glob("python*"):
        python.unlink()
    assert not is_venv(str(made)), "without an interpreter it cannot be used"


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("work/.venv/bin/activate", "work/.venv"),
        ("work/.venv/bin", "work/.venv"),
        ("work", "work/.venv"),
        ("work/.vnev", "work/.venv"),
        ("work/venv", "work/.venv"),
        ("work/nothing/like/it", "work/.venv"),
        ("other/torch23", "other/torch-2.3"),
    ],
)
def test_the_nearest_one_is_named(tmp_path: Path, asked: str, nearest: str) -> None:
    make_venv(tmp_path / "work" / ".venv")
    make_venv(tmp_path / "other" / "jax")
    make_venv(tmp_path / "other" / "torch-2.3")
    found = look_at_venv(str(tmp_path / asked), str(tmp_path / "work"))
    assert found == (False, str(tmp_path / nearest))


def test_every_directory_is_announced_before_it_is_read(tmp_path: Path) -> None:
    touched: list[str] = []
    assert look_at_venv(str(tmp_path / "a"), str(tmp_path / "b"), touched.append) == (False, None)
    assert touched[:2] == [str(tmp_path / "a"), str(tmp_path / "b")]
