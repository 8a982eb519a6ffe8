"""Activates a virtual or conda environment for a command, as their activate scripts do, without an interactive shell.

Only the variables change, except that packages of a conda environment may bring scripts (`etc/conda/activate.d`). If
there are any, the shell runs them and then becomes the command, so its pid stays the same.
"""

from __future__ import annotations

import json
import os
from typing import Dict, List, NamedTuple, Optional

from tarmac.agent.environments.conda import is_conda, look_for_conda, name_of
from tarmac.agent.environments.listing import names_in
from tarmac.agent.environments.venv import is_venv

_UNSET = "***unset***"  # a value in conda's list of variables
_OF_ACTIVE = ("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL", "CONDA_PROMPT_MODIFIER")


class NoEnvironment(Exception):
    """The message is shown to the owner of the job."""


class Scripts(NamedTuple):
    """To be sourced before the command."""

    left: List[str]  # of the environment that was active at submit
    left_prefix: str
    entered: List[str]


_NOTHING = Scripts([], "", [])


def activate(
    argv: List[str], env: Dict[str, str], cwd: str, *, venv: Optional[str], conda: Optional[str], shell: str
) -> List[str]:
    """Change `env`, and return the command that runs in it. Raises NoEnvironment."""
    if venv is not None:
        return _with_scripts(argv, _activate_venv(env, venv), shell)
    if conda is not None:
        return _with_scripts(argv, _activate_conda(env, conda, cwd), shell)
    return argv


def _activate_venv(env: Dict[str, str], path: str) -> Scripts:
    if not is_venv(path):
        raise NoEnvironment(f"{path}: not a virtual environment")
    scripts = _leave(env)
    env["VIRTUAL_ENV"] = path
    env["VIRTUAL_ENV_PROMPT"] = os.path.basename(path)
    _put_first(env, os.path.join(path, "bin"))
    return scripts


def _activate_conda(env: Dict[str, str], wanted: str, cwd: str) -> Scripts:
    prefix = wanted if os.path.isabs(wanted) else look_for_conda(wanted, cwd, env).prefix
    if prefix is None or not is_conda(prefix):
        raise NoEnvironment(f"{wanted}: not a conda environment")
    scripts = _leave(env)
    name = name_of(prefix)
    env["CONDA_PREFIX"] = prefix
    env["CONDA_DEFAULT_ENV"] = name
    env["CONDA_SHLVL"] = "1"
    env["CONDA_PROMPT_MODIFIER"] = f"({name}) "
    _put_first(env, os.path.join(prefix, "bin"))
    for key, value in _variables(prefix).items():
        if value == _UNSET:
            env.pop(key, None)
        else:
            env[key] = value
    return scripts._replace(entered=_scripts(prefix, "activate.d"))


def _leave(env: Dict[str, str]) -> Scripts:
    """Take away what an environment that was active at submit has set."""
    env.pop("PYTHONHOME", None)
    if env.get("VIRTUAL_ENV"):
        _remove(env, os.path.join(env["VIRTUAL_ENV"], "bin"))
    for name in ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"):
        env.pop(name, None)
    return _leave_conda(env)


def _leave_conda(env: Dict[str, str]) -> Scripts:
    active = env.get("CONDA_PREFIX", "")
    level = env.get("CONDA_SHLVL", "")
    earlier = sorted(name for name in env if name.startswith("CONDA_PREFIX_") and name[13:].isdecimal())
    for prefix in [active, *(env[name] for name in earlier)]:
        if prefix:
            _remove(env, os.path.join(prefix, "bin"))
    scripts = _NOTHING
    if active:
        for name in _variables(active):
            before = env.pop(f"__CONDA_SHLVL_{level}_{name}", None)
            env.pop(name, None)
            if before is not None:
                env[name] = before
        scripts = Scripts(_scripts(active, "deactivate.d")[::-1], active, [])
    stacked = [name for name in env if name.startswith(("CONDA_STACKED_", "__CONDA_SHLVL_"))]
    for name in [*_OF_ACTIVE, *earlier, *stacked]:
        env.pop(name, None)
    return scripts


def _put_first(env: Dict[str, str], folder: str) -> None:
    env["PATH"] = os.pathsep.join([folder, *filter(None, [env.get("PATH", os.defpath)])])


def _remove(env: Dict[str, str], folder: str) -> None:
    """Its first occurrence: the user may have put it there, too."""
    folders = env.get("PATH", "").split(os.pathsep)
    if folder in folders:
        folders.remove(folder)
        env["PATH"] = os.pathsep.join(folders)


def _variables(prefix: str) -> Dict[str, str]:
    """Those that packages bring and that `conda env config vars set` has set, which win."""
    found: Dict[str, str] = {}
    folder = os.path.join(prefix, "etc", "conda", "env_vars.d")
    for name in names_in(folder):
        if name.endswith(".json"):
            found.update(_strings(_json(os.path.join(folder, name))))
    state = _json(os.path.join(prefix, "conda-meta", "state"))
    if isinstance(state, dict):
        found.update(_strings(state.get("env_vars")))
    return found


def _strings(value: object) -> Dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(name, str) and isinstance(text, str) and name}


def _json(path: str) -> object:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _scripts(prefix: str, kind: str) -> List[str]:
    folder = os.path.join(prefix, "etc", "conda", kind)
    return [os.path.join(folder, name) for name in names_in(folder) if name.endswith(".sh")]


def _with_scripts(argv: List[str], scripts: Scripts, shell: str) -> List[str]:
    """The scripts of the environment that is left see its prefix, as when conda runs them."""
    if not scripts.left and not scripts.entered:
        return argv
    lines = ['_tarmac_source() { . "$1"; }']  # in a function, `set --` does not change the command
    if scripts.left:
        lines.append('_tarmac_prefix="${CONDA_PREFIX-}"')
        lines.append(f"export CONDA_PREFIX={_quoted(scripts.left_prefix)}")
        lines += [f"_tarmac_source {_quoted(path)}" for path in scripts.left]
        lines.append('if [ -n "$_tarmac_prefix" ]; then CONDA_PREFIX=$_tarmac_prefix; else unset CONDA_PREFIX; fi')
        lines.append("unset _tarmac_prefix")
    lines += [f"_tarmac_source {_quoted(path)}" for path in scripts.entered]
    lines += ["unset -f _tarmac_source", 'exec "$@"']
    name = os.path.basename(shell)
    private = ["-p"] if name == "bash" else []  # without the start-up file that BASH_ENV names
    return [shell, *private, "-c", "\n".join(lines), name, *argv]


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\"'\"'") + "'"
