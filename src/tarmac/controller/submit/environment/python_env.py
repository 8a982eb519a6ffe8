"""The virtual and conda environments that jobs name, checked on the nodes that can take the jobs.

An environment must be there on at least one of these nodes that answers. While none answers, it is not checked: the
start of the job reports the same later.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.submit.refused_jobs import MOST_REFUSED, refusal_of
from tarmac.core.policy.feasibility import candidates
from tarmac.nodes.facts import check_environments
from tarmac.refusal import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tarmac.controller.submit.request import JobRequest
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import JobSpec, Request
    from tarmac.core.state import State
    from tarmac.nodes.facts import EnvironmentFacts
    from tarmac.nodes.fleet import Fleet

# Of the submitter's environment: they tell where conda environments are.
LOOKED_AT = (
    "HOME", "PATH", "CONDA_EXE", "CONDA_ROOT", "CONDA_PREFIX", "CONDA_SHLVL", "CONDA_ENVS_PATH", "CONDA_ENVS_DIRS",
    "MAMBA_ROOT_PREFIX", "MAMBA_EXE",
)  # fmt: skip


class Named(NamedTuple):
    """What a job names: the directory of a virtual environment, or a conda environment."""

    venv: str | None
    conda: str | None
    cwd: str


def absolute_venv(path: str | None, cwd: str) -> str | None:
    """Relative to the job's directory."""
    return None if path is None else os.path.normpath(os.path.join(cwd, path))


def refuse_two_environments(job: JobRequest | JobSpec) -> None:
    if job.venv is not None and job.conda is not None:
        raise invalid("submit.venv_and_conda")


async def with_environments(
    specs: tuple[JobSpec, ...], variables: Mapping[str, str | None], state: State, fleet: Fleet
) -> tuple[JobSpec, ...]:
    """The specs with conda environments as directories. Refuses environments that do not exist."""
    named = dict.fromkeys(_named(spec) for spec in specs if spec.venv is not None or spec.conda is not None)
    if not named:
        return specs
    nodes = _nodes({spec.request for spec in specs}, state, fleet)
    found = await _found(list(named), variables, nodes, fleet)
    bad = {one: place for one, place in found.items() if isinstance(place, Refused)}
    if bad:
        pairs = ((number, bad[_named(spec)]) for number, spec in enumerate(specs) if _named(spec) in bad)
        raise refusal_of(dict(islice(pairs, MOST_REFUSED)), len(specs))
    return tuple(spec if spec.conda is None else replace(spec, conda=str(found[_named(spec)])) for spec in specs)


async def edited_environments(
    specs: Sequence[JobSpec], venv: str | None, conda: str | None, variables: Mapping[str, str | None], state: State,
    fleet: Fleet,
) -> dict[str, str]:  # fmt: skip
    """The directory of the conda environment that is named, by the directory of the job. Refuses as for a submit."""
    edited = tuple(replace(spec, venv=absolute_venv(venv, spec.cwd), conda=conda) for spec in specs)
    found = await with_environments(edited, variables, state, fleet)
    return {spec.cwd: spec.conda for spec in found if spec.conda is not None}


def _named(spec: JobSpec) -> Named:
    return Named(spec.venv, spec.conda, spec.cwd)


def _nodes(requests: Iterable[Request], state: State, fleet: Fleet) -> list[NodeName]:
    found = {node.name for request in requests for node in candidates(state, request) if fleet.is_connected(node.name)}
    return sorted(found)


async def _found(
    named: Sequence[Named], variables: Mapping[str, str | None], nodes: Sequence[NodeName], fleet: Fleet
) -> dict[Named, str | Refused]:
    """Where each is, or what is wrong with it. An environment that no node reports keeps the name it was given."""
    venvs = [one for one in named if one.venv is not None]
    condas = [one for one in named if one.conda is not None]
    known = {name: value for name in LOOKED_AT if (value := variables.get(name)) is not None}
    answers = await asyncio.gather(
        *(
            check_environments(
                fleet,
                node,
                [(str(one.venv), one.cwd) for one in venvs],
                [(str(one.conda), one.cwd) for one in condas],
                known,
            )
            for node in nodes
        )
    )
    facts = [answer for answer in answers if answer is not None]
    places: dict[Named, str | Refused] = {one: _venv(one, index, facts) for index, one in enumerate(venvs)}
    return places | {one: _prefix(one, index, facts) for index, one in enumerate(condas)}


def _venv(one: Named, index: int, facts: Sequence[EnvironmentFacts]) -> str | Refused:
    found = [answer.venvs[index] for answer in facts if answer.venvs[index].is_venv is not None]
    if not found or any(entry.is_venv for entry in found):
        return str(one.venv)
    nearest = next((entry.nearest for entry in found if entry.nearest is not None), None)
    if nearest is not None:
        return invalid("submit.venv_unknown_near", path=one.venv, nearest=_shown(nearest, one.cwd))
    return invalid("submit.venv_unknown", path=one.venv)


def _prefix(one: Named, index: int, facts: Sequence[EnvironmentFacts]) -> str | Refused:
    found = [answer.condas[index] for answer in facts if answer.condas[index].is_known is not None]
    if not found:
        return str(one.conda)
    for entry in found:
        if entry.prefix is not None:
            return entry.prefix
    known = found[0].known
    if known:
        return invalid("submit.conda_unknown_near", name=one.conda, nearest=known[0], known=known)
    return invalid("submit.conda_unknown", name=one.conda)


def _shown(path: str, cwd: str) -> str:
    """As one would type it in the directory of the job."""
    return path[len(cwd) + 1 :] if cwd != "/" and path.startswith(f"{cwd}/") else path
