"""The files and directories that a job needs on its node, and what nodes lack of them.

A job with a snapshot brings its directory along. It needs the paths that --link leaves out.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.model.status import MissingPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import JobSpec


class NeededPaths(NamedTuple):
    directories: tuple[str, ...]
    present: tuple[str, ...]  # whatever they are
    programs: tuple[str, ...]
    logs: tuple[str, ...]  # directories of output files

    @property
    def all(self) -> tuple[str, ...]:
        """The most telling one first: without the directory, the others are missing as well."""
        return (*self.directories, *self.logs, *self.present, *self.programs)


def needed_paths(spec: JobSpec) -> NeededPaths:
    snapshot = spec.snapshot
    links = () if snapshot is None else tuple(os.path.join(snapshot.root, link) for link in snapshot.links)
    return NeededPaths(
        directories=(spec.cwd,) if snapshot is None else (),
        present=links if spec.venv is None else (*links, spec.venv),
        programs=_programs(spec),
        logs=tuple(os.path.dirname(path) for path in spec.outputs),
    )


def _programs(spec: JobSpec) -> tuple[str, ...]:
    """A program that is given as a path. In a snapshot, a relative one comes along."""
    program = spec.command[0] if spec.command else ""
    if "/" not in program or spec.fill or (spec.snapshot is not None and not os.path.isabs(program)):
        return ()
    return (os.path.normpath(os.path.join(spec.cwd, program)),)


class MissingOnNodes:
    """What each of some jobs would miss on nodes, by the paths that it needs."""

    def __init__(self, missing: Mapping[NeededPaths, tuple[MissingPath, ...]]) -> None:
        self._missing = missing
        self._applied: dict[int, tuple[JobSpec, JobSpec]] = {}  # by identity: the jobs of an array share a spec

    def avoided_by(self, spec: JobSpec) -> JobSpec:
        """The spec, with a request that avoids these nodes. One that was not asked about stays as it is."""
        known = self._applied.get(id(spec))
        if known is None:
            missing = self._missing.get(needed_paths(spec))
            known = self._applied[id(spec)] = (spec, spec if missing is None else spec.with_missing(missing))
        return known[1]

    def avoided_by_all(self, specs: tuple[JobSpec, ...]) -> tuple[JobSpec, ...]:
        if not any(self._missing.values()) and not any(spec.missing for spec in specs):
            return specs  # nearly always: don't look at a million jobs again
        return tuple(self.avoided_by(spec) for spec in specs)


def missing_on_nodes(specs: Iterable[JobSpec], lacks: Mapping[NodeName, set[str]]) -> MissingOnNodes:
    found: dict[NeededPaths, tuple[MissingPath, ...]] = {}
    for needed in dict.fromkeys(needed_paths(spec) for spec in specs):
        first = ((node, next((path for path in needed.all if path in paths), None)) for node, paths in lacks.items())
        found[needed] = tuple(MissingPath(node, path) for node, path in first if path is not None)
    return MissingOnNodes(found)
