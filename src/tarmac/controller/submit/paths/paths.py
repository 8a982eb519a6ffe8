"""Whether the paths of a submit are usable, asked of the nodes that can take its jobs.

The rule: a working directory must exist, and an output file must be creatable, on at least one connected node that
could take the job. Nodes that lack one of them are not used for it, nor those that lack a path of --link, the virtual
environment or a program given as a path, if another node has it. An output file must be missing or empty on all nodes,
unless the job appends to it, and none of them may reserve it for Tarmac. A path is not checked while none of these
nodes answers: a submit must not fail because an agent restarts, and a launch that fails reports the same later.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from tarmac.controller.submit.paths.needed import MissingOnNodes, missing_on_nodes, needed_paths
from tarmac.controller.submit.refused_jobs import MOST_REFUSED, refusal_of
from tarmac.core.policy.feasibility import candidates
from tarmac.nodes.facts import check_paths
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tarmac.controller.submit.paths.output_files import OutputFiles
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import JobSpec, Request
    from tarmac.core.state import State
    from tarmac.nodes.facts import PathFacts
    from tarmac.nodes.fleet import Fleet
    from tarmac.refusal import Refused
    from tarmac.shared.frames.to_controller import OutputVerdict


class _Output(NamedTuple):
    path: str
    is_appended: bool


class _Paths:
    """The paths of a submit, each with the nodes that are asked about it, in the order of the jobs."""

    def __init__(self) -> None:
        self.directories: dict[str, set[NodeName]] = defaultdict(set)
        self.outputs: dict[_Output, set[NodeName]] = defaultdict(set)
        self.present: dict[str, set[NodeName]] = defaultdict(set)
        self.programs: dict[str, set[NodeName]] = defaultdict(set)

    def directories_on(self, node: NodeName) -> list[str]:
        return _on(self.directories, node)

    def outputs_on(self, node: NodeName) -> list[_Output]:
        return [output for output, nodes in self.outputs.items() if node in nodes]

    def nodes(self) -> list[NodeName]:
        asked = (self.directories, self.outputs, self.present, self.programs)
        return sorted({node for paths in asked for nodes in paths.values() for node in nodes})


def _on(paths: Mapping[str, set[NodeName]], node: NodeName) -> list[str]:
    return [path for path, nodes in paths.items() if node in nodes]


async def check_submitted_paths(
    specs: Sequence[JobSpec], state: State, fleet: Fleet, files: OutputFiles, reserved: Sequence[str] = ()
) -> MissingOnNodes:
    """Ask about all paths of a submit at once, and refuse bad ones. `files` learns which files they are.

    Returns what nodes lack, which the specs then avoid.
    """
    paths = _collect(specs, state, fleet)
    nodes = paths.nodes()
    answers = await asyncio.gather(*(_ask(fleet, node, paths, reserved) for node in nodes))
    facts = {node: answer for node, answer in zip(nodes, answers, strict=True) if answer is not None}
    if bad := dict(_refusals(paths, facts)):
        raise _refusal_of_jobs(specs, bad)
    if paths.outputs:
        await _learn_files(paths, facts, state, fleet, files)
    return missing_on_nodes(specs, _lacks(paths, facts))


def _lacks(paths: _Paths, facts: dict[NodeName, PathFacts]) -> dict[NodeName, set[str]]:
    """The paths that nodes lack. One that all of them lack may be made by an earlier job, so it rules nothing out."""
    found: dict[NodeName, set[str]] = defaultdict(set)
    for node, known in facts.items():
        for asked, answers in (
            (paths.directories, known.directories),
            (paths.present, known.present),
            (paths.programs, known.programs),
        ):
            pairs = zip(_on(asked, node), answers, strict=True)
            found[node].update(path for path, is_there in pairs if is_there is False)
        outputs = zip(paths.outputs_on(node), known.outputs, strict=True)
        found[node].update(os.path.dirname(output.path) for output, verdict in outputs if verdict == "no_directory")
    everywhere = set.intersection(*found.values()) if found else set()
    return {node: lacks - everywhere for node, lacks in found.items() if lacks - everywhere}


async def _learn_files(
    paths: _Paths, facts: dict[NodeName, PathFacts], state: State, fleet: Fleet, files: OutputFiles
) -> None:
    """Learn which files the outputs are, and first those of other jobs where the node was not asked about them yet."""
    files.trim(state)
    for node, known in facts.items():
        machine = fleet.boot_id(node) or node  # nodes on one machine have its files in common
        outputs = [output.path for output in paths.outputs_on(node)]
        files.learn(machine, outputs, known.identities)
        unknown = files.unknown_on(machine, state, outputs)
        others = await check_paths(fleet, node, (), unknown) if unknown else None
        if others is not None:
            files.learn(machine, unknown, others.identities)
        files.learned_all(machine)  # a file system that hangs must not delay every submit
    files.note_unanswered(output.path for output in paths.outputs)


def _collect(specs: Iterable[JobSpec], state: State, fleet: Fleet) -> _Paths:
    paths = _Paths()
    nodes_of: dict[int, tuple[NodeName, ...]] = {}  # by identity: the jobs of an array share one request
    for spec in specs:
        nodes = nodes_of.get(id(spec.request))
        if nodes is None:
            request = replace(spec.request, nodes_lacking=())  # ask again: a person may have created what was missing
            nodes = nodes_of[id(spec.request)] = _connected_candidates(state, request, fleet)
        needed = needed_paths(spec)
        for path in needed.directories:
            paths.directories[path].update(nodes)
        for path in needed.present:
            paths.present[path].update(nodes)
        for path in needed.programs:
            paths.programs[path].update(nodes)
        for path in spec.outputs:
            paths.outputs[_Output(path, spec.append)].update(nodes)
    return paths


def _connected_candidates(state: State, request: Request, fleet: Fleet) -> tuple[NodeName, ...]:
    return tuple(node.name for node in candidates(state, request) if fleet.is_connected(node.name))


async def _ask(fleet: Fleet, node: NodeName, paths: _Paths, reserved: Sequence[str]) -> PathFacts | None:
    outputs = [output.path for output in paths.outputs_on(node)]
    return await check_paths(
        fleet,
        node,
        paths.directories_on(node),
        outputs,
        reserved,
        present=_on(paths.present, node),
        programs=_on(paths.programs, node),
    )


def _refusal_of_jobs(specs: Sequence[JobSpec], bad: dict[str, Refused]) -> Refused:
    pairs = ((number, path) for number, spec in enumerate(specs) for path in (*spec.outputs, spec.cwd) if path in bad)
    return refusal_of({number: bad[path] for number, path in islice(pairs, MOST_REFUSED)}, len(specs))


def _refusals(paths: _Paths, facts: dict[NodeName, PathFacts]) -> Iterator[tuple[str, Refused]]:
    """The bad paths, each with what is wrong."""
    exists: dict[str, list[bool]] = defaultdict(list)  # of the nodes where it answers
    verdicts: dict[_Output, list[OutputVerdict]] = defaultdict(list)
    for node, known in facts.items():
        for path, is_directory in zip(paths.directories_on(node), known.directories, strict=True):
            exists[path] += [] if is_directory is None else [is_directory]
        for output, verdict in zip(paths.outputs_on(node), known.outputs, strict=True):
            verdicts[output].append(verdict)
    for path, answers in exists.items():
        if answers and not any(answers):
            yield path, invalid("submit.cwd_not_a_directory", path=path)
    for output, found in verdicts.items():
        if (refusal := _output_refusal(output, found)) is not None:
            yield output.path, refusal


def _output_refusal(output: _Output, verdicts: list[OutputVerdict]) -> Refused | None:
    path, directory = output.path, os.path.dirname(output.path)
    if "reserved" in verdicts:
        return invalid("submit.log_reserved", path=path)
    if "has_content" in verdicts:
        return None if output.is_appended else invalid("submit.log_exists", path=path)
    if "good" in verdicts or set(verdicts) == {"silent"}:
        return None
    if "not_writable" in verdicts:
        return invalid("submit.log_not_writable", path=path, directory=directory)
    if "is_directory" in verdicts:
        return invalid("submit.log_is_a_directory", path=path)
    return invalid("submit.log_no_directory", path=path, directory=directory)
