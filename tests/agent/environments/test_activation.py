"""Environments are activated as their own scripts do it. The commands really run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tarmac.agent.environments.activation import NoEnvironment, activate
from tests.agent.environments.prefixes import make_conda, make_venv

BASH = "/bin/bash"


def run(env: dict[str, str], cwd: Path, *, venv: Path | None = None, conda: Path | str | None = None) -> dict[str, str]:
    """The variables that a command sees."""
    argv = activate(
        ["/usr/bin/env", "-0"],
        env,
        str(cwd),
        venv=None if venv is None else str(venv),
        conda=None if conda is None else str(conda),
        shell=BASH,
    )
    done = subprocess.run(argv, env=env, cwd=cwd, check=True, capture_output=True, text=True)
    found = dict(pair.split("=", 1) for pair in done.stdout.split("\0")[:-1])
    return {name: value for name, value in found.items() if name not in {"SHLVL", "_", "PWD", "OLDPWD"}}


def sourced(script: Path, env: dict[str, str]) -> dict[str, str]:
    """What the environment's own script makes of the variables."""
    done = subprocess.run([BASH, "-c", f". '{script}' && env -0"], env=env, check=True, capture_output=True, text=True)
    found = dict(pair.split("=", 1) for pair in done.stdout.split("\0")[:-1])
    return {name: value for name, value in found.items() if name not in {"SHLVL", "_", "PWD", "OLDPWD", "PS1"}}


def test_a_virtual_environment_is_activated_as_by_its_own_script(tmp_path: Path) -> None:
    path = make_venv(tmp_path / "my env")
    env = {"PATH": "/usr/bin:/bin", "HOME": "/", "PYTHONHOME": "/elsewhere"}
    wanted = sourced(path / "bin" / "activate", dict(env))
    wanted["VIRTUAL_ENV_PROMPT"] = wanted["VIRTUAL_ENV_PROMPT"].strip("() ")  # it differs between versions of Python
    wanted.pop("_OLD_VIRTUAL_PATH", None)
    assert run(env, tmp_path, venv=path) == wanted


def test_another_virtual_environment_is_left(tmp_path: Path) -> None:
    old, path = make_venv(tmp_path / "old"), make_venv(tmp_path / "new")
    env = {"PATH": f"{old}/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(old), "VIRTUAL_ENV_PROMPT": "(old) "}
    found = run(env, tmp_path, venv=path)
    assert found["PATH"] == f"{path}/bin:/usr/bin:/bin"
    assert found["VIRTUAL_ENV"] == str(path)


def test_a_conda_environment_is_left_for_a_virtual_one(tmp_path: Path) -> None:
    old, path = make_conda(tmp_path / "c" / "envs" / "old", state={"OF_OLD": "1"}), make_venv(tmp_path / "new")
    env = {
        "PATH": f"{old}/bin:{tmp_path}/c/condabin:/usr/bin:/bin", "CONDA_PREFIX": str(old), "CONDA_SHLVL": "2",
        "CONDA_PREFIX_1": str(tmp_path / "c"), "CONDA_DEFAULT_ENV": "old", "CONDA_PROMPT_MODIFIER": "(old) ",
        "CONDA_EXE": "/c/bin/conda", "OF_OLD": "1",
    }  # fmt: skip
    found = run(env, tmp_path, venv=path)
    assert found == {
        "PATH": f"{path}/bin:{tmp_path}/c/condabin:/usr/bin:/bin", "VIRTUAL_ENV": str(path),
        "VIRTUAL_ENV_PROMPT": "new", "CONDA_EXE": "/c/bin/conda",
    }  # fmt: skip


def test_a_conda_environment_sets_what_conda_sets(tmp_path: Path) -> None:
    prefix = make_conda(
        tmp_path / "envs" / "ml",
        state={"DATA": "/data", "GONE": "***unset***", "SHARED": "of the user"},
        package_variables={"SHARED": "of a package", "PACKAGE": "1"},
    )
    found = run({"PATH": "/usr/bin:/bin", "GONE": "x", "PYTHONHOME": "/y"}, tmp_path, conda=prefix)
    assert found == {
        "PATH": f"{prefix}/bin:/usr/bin:/bin", "CONDA_PREFIX": str(prefix), "CONDA_DEFAULT_ENV": "ml",
        "CONDA_SHLVL": "1", "CONDA_PROMPT_MODIFIER": "(ml) ", "DATA": "/data", "SHARED": "of the user", "PACKAGE": "1",
    }  # fmt: skip


def test_scripts_of_packages_are_run_in_order_and_the_old_ones_first(tmp_path: Path) -> None:
    trace = 'TRACE="${TRACE-}'
    old = make_conda(
        tmp_path / "envs" / "old",
        deactivate={
            "a.sh": f'export {trace}1:$CONDA_DEFAULT_ENV "',
            "b.sh": f'export {trace}0:$CONDA_PREFIX "; unset CC',
        },
    )
    new = make_conda(
        tmp_path / "envs" / "it's new",
        activate={
            "10-first.sh": f'export {trace}2:$CONDA_PREFIX "',
            "20-second.sh": 'export QUOTED="it\'s"; test -z "$MISSING" && export LOADED=yes',
            "30-other.csh": "exit 1",
        },
    )
    env = {
        "PATH": f"{old}/bin:/usr/bin:/bin", "CONDA_PREFIX": str(old), "CONDA_SHLVL": "1", "CONDA_DEFAULT_ENV": "old",
        "CC": "/old/cc", "BASH_ENV": str(tmp_path / "never"),
    }  # fmt: skip
    (tmp_path / "never").write_text("export NEVER=1")
    found = run(env, tmp_path, conda=new)
    assert found["TRACE"] == f"0:{old} 1:it's new 2:{new} "
    assert (found["QUOTED"], found["LOADED"], found["CONDA_PREFIX"]) == ("it's", "yes", str(new))
    assert found["PATH"] == f"{new}/bin:/usr/bin:/bin"
    assert not {"CC", "NEVER", "_tarmac_prefix"} & found.keys()


def test_the_pid_and_the_arguments_stay_as_they_are(tmp_path: Path) -> None:
    prefix = make_conda(tmp_path / "ml", activate={"a.sh": "set -- changed; export A=1"})
    env = {"PATH": "/usr/bin:/bin"}
    words = ["$$", "a b", "*", "'\"", ""]
    argv = activate(
        ["/bin/sh", "-c", 'echo $$; for word; do printf "<%s>" "$word"; done', "sh", *words],
        env, str(tmp_path), venv=None, conda=str(prefix), shell=BASH,
    )  # fmt: skip
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
    pid, _, given = process.communicate()[0].partition("\n")
    assert int(pid) == process.pid
    assert given == "".join(f"<{word}>" for word in words)


def test_without_scripts_no_shell_is_in_between(tmp_path: Path) -> None:
    env = {"PATH": "/bin"}
    prefix = make_conda(tmp_path / "ml")
    assert activate(["x"], env, "/", venv=None, conda=str(prefix), shell=BASH) == ["x"]
    assert activate(["x"], env, "/", venv=None, conda=None, shell=BASH) == ["x"]


def test_a_name_is_looked_up_at_the_start_if_no_node_knew_it_before(tmp_path: Path) -> None:
    prefix = make_conda(tmp_path / "root" / "envs" / "ml")
    found = run({"PATH": "/usr/bin:/bin", "CONDA_ENVS_PATH": str(tmp_path / "root" / "envs")}, tmp_path, conda="ml")
    assert found["CONDA_PREFIX"] == str(prefix)


@pytest.mark.parametrize("kind", ["venv", "conda"])
def test_an_environment_that_vanished_is_named(tmp_path: Path, kind: str) -> None:
    env = dict(os.environ)
    with pytest.raises(NoEnvironment, match=f"{tmp_path}/gone: not a"):
        run(env, tmp_path, **{kind: tmp_path / "gone"})
