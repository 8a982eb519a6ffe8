"""Finds conda environments by name, as conda, mamba and micromamba do, without running any of them."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from tarmac.agent.environments.listing import names_in

BASE = "base"
_PROGRAMS = ("conda", "mamba", "micromamba")
_USUAL_ROOTS = (
    "~/miniconda3", "~/anaconda3", "~/miniforge3", "~/mambaforge", "~/micromamba", "~/.local/share/mamba", "~/conda",
    "/opt/conda", "/opt/miniconda3", "/opt/anaconda3", "/opt/miniforge3", "/opt/mambaforge", "/usr/local/miniconda3",
)  # fmt: skip
_MOST_NEAR = 5


class CondaFacts(NamedTuple):
    prefix: Optional[str]
    known: List[str]  # the nearest names first, where there is none with this name


def look_for_conda(
    wanted: str, cwd: str, variables: Mapping[str, str], touch: Callable[[str], None] = lambda _: None
) -> CondaFacts:
    """By name, or by the path of its directory. `touch` is called before a directory is read."""
    if "/" in wanted:
        prefix = os.path.normpath(os.path.join(cwd, wanted))
        touch(prefix)
        if is_conda(prefix):
            return CondaFacts(prefix, [])
        found = _environments(variables, touch)
        near = get_close_matches(prefix, list(found.values()), n=1) or list(found.values())
        return CondaFacts(None, near[:_MOST_NEAR])
    found = _environments(variables, touch)
    if wanted in found:
        return CondaFacts(found[wanted], [])
    names = sorted(found)
    near = get_close_matches(wanted, names, n=_MOST_NEAR, cutoff=0.6)
    return CondaFacts(None, [*near, *(name for name in names if name not in near)][:_MOST_NEAR])


def is_conda(prefix: str) -> bool:
    return os.path.isdir(os.path.join(prefix, "conda-meta"))


def name_of(prefix: str) -> str:
    """What CONDA_DEFAULT_ENV is: the name of an environment among others, otherwise its path."""
    above, name = os.path.split(prefix)
    if os.path.basename(above) == "envs":
        return name
    return BASE if os.path.isdir(os.path.join(prefix, "condabin")) else prefix


def _environments(variables: Mapping[str, str], touch: Callable[[str], None]) -> Dict[str, str]:
    """The prefix of each name; the first counts."""
    home = variables.get("HOME", "")
    roots = list(dict.fromkeys(_roots(variables, home)))
    found: Dict[str, str] = {}
    for root in roots:
        touch(root)
        if is_conda(root):
            found.setdefault(BASE, root)
    folders = [*_named_folders(variables, home), *(os.path.join(root, "envs") for root in roots)]
    for folder in dict.fromkeys(folders):
        touch(folder)
        for name in names_in(folder):
            if is_conda(os.path.join(folder, name)):
                found.setdefault(name, os.path.join(folder, name))
    for prefix in _lines(os.path.join(home, ".conda", "environments.txt")):
        touch(prefix)
        if os.path.basename(prefix) not in found and is_conda(prefix):
            found[name_of(prefix) if name_of(prefix) == BASE else os.path.basename(prefix)] = prefix
    return found


def _roots(variables: Mapping[str, str], home: str) -> Iterator[str]:
    """Installations: each has a base environment and a directory of others."""
    if variables.get("MAMBA_ROOT_PREFIX"):
        yield variables["MAMBA_ROOT_PREFIX"]
    if variables.get("CONDA_ROOT"):
        yield variables["CONDA_ROOT"]
    for program in [variables.get("CONDA_EXE", ""), variables.get("MAMBA_EXE", ""), *_on_path(variables)]:
        if program:
            yield os.path.dirname(os.path.dirname(program))
    active = variables.get("CONDA_PREFIX", "")
    if active:
        above = os.path.dirname(active)
        yield os.path.dirname(above) if os.path.basename(above) == "envs" else active
    for root in _USUAL_ROOTS:
        yield home + root[1:] if root.startswith("~") else root


def _on_path(variables: Mapping[str, str]) -> Iterator[str]:
    for folder in variables.get("PATH", "").split(os.pathsep):
        for program in _PROGRAMS:
            path = os.path.join(folder, program)
            if folder and os.path.isfile(path):
                yield os.path.realpath(path)


def _named_folders(variables: Mapping[str, str], home: str) -> Iterator[str]:
    """Directories of environments, by variables and by the settings of the user."""
    for name in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        yield from filter(None, variables.get(name, "").split(os.pathsep))
    for file in (".condarc", ".conda/.condarc", ".config/conda/.condarc", ".mambarc"):
        yield from _listed(_lines(os.path.join(home, file)), home)
    yield os.path.join(home, ".conda", "envs")


def _listed(lines: List[str], home: str) -> Iterator[str]:
    """The entries of `envs_dirs`, a list in a YAML file."""
    is_inside = False
    for line in lines:
        if line.startswith("- ") and is_inside:
            path = line[2:].strip().strip("'\"")
            yield home + path[1:] if path.startswith("~") else path
        else:
            is_inside = line.endswith(":") and line[:-1] in ("envs_dirs", "envs_path")


def _lines(path: str) -> List[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.strip() for line in file.read(1_000_000).splitlines() if line.strip()]
    except OSError:
        return []
