"""Conda environments are found by name without running conda."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarmac.agent.environments.conda import look_for_conda, name_of
from tests.agent.environments.prefixes import make_conda


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_conda(tmp_path / "conda", is_root=True)


def found(name: str, cwd: Path, **variables: str) -> str | None:
    return look_for_conda(name, str(cwd), {"HOME": str(cwd / "home"), **variables}).prefix


@pytest.mark.parametrize(
    "variables",
    [
        {"CONDA_EXE": "{root}/bin/conda"},
        {"MAMBA_ROOT_PREFIX": "{root}"},
        {"CONDA_ROOT": "{root}"},
        {"CONDA_PREFIX": "{root}"},
        {"CONDA_PREFIX": "{root}/envs/other"},
        {"CONDA_ENVS_PATH": "/nowhere:{root}/envs"},
        {"CONDA_ENVS_DIRS": "{root}/envs"},
        {"PATH": "/bin:{root}/bin"},
    ],
    ids=str,
)
def test_by_what_the_submitting_shell_knows(root: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    prefix = make_conda(root / "envs" / "ml")
    (root / "bin" / "conda").touch()
    given = {name: value.format(root=root) for name, value in variables.items()}
    assert found("ml", tmp_path, **given) == str(prefix)
    assert found("lm", tmp_path, **given) is None


def test_by_the_files_of_the_user(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".conda").mkdir(parents=True)
    own = make_conda(home / ".conda" / "envs" / "own")
    usual = make_conda(home / "miniforge3" / "envs" / "usual")
    listed = make_conda(tmp_path / "far" / "listed")
    configured = make_conda(tmp_path / "more" / "configured")
    (home / ".conda" / "environments.txt").write_text(f"{root}\n/gone/away\n{listed}\n")
    (home / ".condarc").write_text(f"channels:\n  - conda-forge\nenvs_dirs:\n  - {tmp_path / 'more'}\n")
    for prefix in (own, usual, listed, configured):
        assert found(prefix.name, tmp_path) == str(prefix)
    assert found("base", tmp_path) == str(root)


def test_by_path(root: Path, tmp_path: Path) -> None:
    prefix = make_conda(tmp_path / "project" / "env")
    assert found(str(prefix), tmp_path) == str(prefix)
    assert found("./env", tmp_path / "project") == str(prefix)
    assert found("project/nothing", tmp_path) is None


def test_the_nearest_names_come_first(root: Path, tmp_path: Path) -> None:
    for name in ("aaa", "jax", "torch23", "torch24"):
        make_conda(root / "envs" / name)
    known = look_for_conda("torhc24", str(tmp_path), {"CONDA_ROOT": str(root)}).known
    assert known[0] == "torch24"
    assert {"base", "jax", "torch23"} <= set(known)
    assert look_for_conda("x", str(tmp_path), {"HOME": "/nowhere"}) == (None, [])


def test_the_default_name_is_that_of_conda(root: Path) -> None:
    assert name_of("/opt/conda/envs/ml") == "ml"
    assert name_of("/home/ann/project/env") == "/home/ann/project/env"
    assert name_of(str(root)) == "base"
