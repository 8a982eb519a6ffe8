"""Which output paths name the same file, and the rule that jobs which have not ended do not share one.

The nodes say which file a path names when a job is submitted, so that links and other spellings make no difference.
What they said is a cache: after a restart, and after a reboot of a node, the paths of all live jobs are asked again.
Without an answer, equal paths are the same file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.controller.submit.refused_jobs import MOST_REFUSED, refusal_of
from tarmac.refusal import Refused, invalid

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tarmac.core.model.ids import JobId
    from tarmac.core.model.job import JobSpec
    from tarmac.core.state import State

SPARE_PATHS = 1000  # of jobs that have ended; more are forgotten


class OutputFiles:
    def __init__(self) -> None:
        self._identities: dict[str, dict[str, tuple[str, ...]]] = {}  # of a path, by machine
        self._paths: dict[str, set[str]] = {}  # that have an identity
        self._machines: set[str] = set()  # that know the paths of all live jobs
        self._unanswered: set[str] = set()  # paths that no machine was asked about

    def unknown_on(self, machine: str, state: State, new: Collection[str]) -> list[str]:
        """The paths of live jobs to ask this machine about, before `new` ones are compared with them."""
        if machine not in self._machines or any(self._has_links(path, machine) for path in new):
            return list(state.outputs)
        return [path for path in self._unanswered if path in state.outputs]

    def learn(self, machine: str, paths: Sequence[str], identities: Iterable[list[str] | None]) -> None:
        for path, found in zip(paths, identities, strict=True):
            self._forget(path, machine)
            if found is not None:
                self._unanswered.discard(path)
                named = tuple(f"{machine}:{identity}" for identity in found)
                self._identities.setdefault(path, {})[machine] = named
                for identity in named:
                    self._paths.setdefault(identity, set()).add(path)

    def learned_all(self, machine: str) -> None:
        self._machines.add(machine)

    def note_unanswered(self, paths: Iterable[str]) -> None:
        self._unanswered.update(path for path in paths if path not in self._identities)

    def trim(self, state: State) -> None:
        """Forget paths of jobs that have ended, once there are many."""
        if len(self._identities) > 2 * len(state.outputs) + SPARE_PATHS:
            for path in [path for path in self._identities if path not in state.outputs]:
                for machine in list(self._identities[path]):
                    self._forget(path, machine)
        self._unanswered = {path for path in self._unanswered if path in state.outputs}

    def names(self, path: str) -> set[str]:
        """All known paths of the file."""
        found = {path}
        for identities in self._identities.get(path, {}).values():
            found.update(*(self._paths[identity] for identity in identities))
        return found

    def keys(self, path: str) -> set[str]:
        """Paths with a key in common name the same file."""
        named = self._identities.get(path, {})
        return {path, *(identity for identities in named.values() for identity in identities)}

    def is_device(self, path: str) -> bool:
        """A device such as /dev/null, or a pipe, on every machine that answered. Any number of jobs may use it."""
        named = self._identities.get(path)
        return not any(named.values()) if named else path == os.devnull

    def _has_links(self, path: str, machine: str) -> bool:
        return len(self._identities.get(path, {}).get(machine, ())) > 1

    def _forget(self, path: str, machine: str) -> None:
        named = self._identities.get(path, {})
        for identity in named.pop(machine, ()):
            paths = self._paths[identity]
            paths.discard(path)
            if not paths:
                del self._paths[identity]
        if not named:
            self._identities.pop(path, None)


def refuse_shared_outputs(
    specs: Sequence[JobSpec],
    state: State,
    files: OutputFiles,
    *,
    bodies: int | None = None,
    edited: Collection[JobId] = (),
) -> None:
    """Call this with the newest state: another submit may have come first.

    `bodies`: how many made the specs. `edited`: the jobs that get these specs, and so leave their former files.
    """
    bodies = len(specs) if bodies is None else bodies
    writers: dict[str, JobSpec] = {}  # of this submit, by the keys of their files
    refused: dict[int, Refused] = {}
    for number, spec in enumerate(specs):
        try:
            _refuse_shared(spec, writers, state, files, edited)
        except Refused as refusal:
            refused[number] = refusal
            if bodies == 1 or len(refused) == MOST_REFUSED:
                break
    if refused:
        raise refusal_of(refused, bodies)


def _refuse_shared(
    spec: JobSpec, writers: dict[str, JobSpec], state: State, files: OutputFiles, edited: Collection[JobId]
) -> None:
    outputs = [path for path in spec.outputs if not files.is_device(path)]
    if len(outputs) > 1 and files.keys(outputs[0]) & files.keys(outputs[1]):
        raise invalid("submit.same_output", path=outputs[0])
    for path in outputs:
        _refuse_taken(spec, path, state, files, edited)
        for key in files.keys(path):
            other = writers.setdefault(key, spec)
            if other is not spec and not (other.append and spec.append):
                raise invalid("submit.log_repeated", path=path)


def _refuse_taken(spec: JobSpec, path: str, state: State, files: OutputFiles, edited: Collection[JobId]) -> None:
    for name in files.names(path):
        job = next((writer for writer in state.outputs.get(name, ()) if writer not in edited), None)
        # One stands for all: either it is the only one, or all append.
        if job is not None and not (spec.append and state.jobs[job].spec.append):
            raise invalid("submit.log_taken", path=path, job=job)
