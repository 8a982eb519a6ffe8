"""Fingerprints of the Python environments of jobs: those that agents report, and that of today, for comparison."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from tarmac.controller.engine.decision import Decision
from tarmac.core.model.ids import JobId
from tarmac.core.model.status import holds_booking, is_working
from tarmac.nodes.facts import take_fingerprint
from tarmac.store.environments.fingerprints import Fingerprint, TakenFingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.engine.engine import Engine
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.job import Job
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import FingerprintSubject
    from tarmac.store.reader import Reader

COMMIT_EVERY_S = 1.0  # many jobs may start at once, and nobody waits for their fingerprints
LOOK_EVERY_S, LOOKS = 2.0, 5  # after the start of the controller
LOST_WITHIN_S = 60.0  # of its start: packages may have changed since an earlier one


class _Asked(NamedTuple):
    node: NodeName
    subject: tuple[tuple[str, object], ...]


class _Report(msgspec.Struct):
    attempts: list[tuple[int, int]]
    fingerprint: Fingerprint


class PackageChange(NamedTuple):
    """None: it is not installed. `python` is the interpreter itself."""

    name: str
    then: str | None
    now: str | None


class FingerprintBook:
    def __init__(self, engine: Engine, reader: Reader, fleet: Fleet) -> None:
        self._engine = engine
        self._reader = reader
        self._fleet = fleet
        self._taken: list[TakenFingerprint] = []
        self._looking: asyncio.Task[None] | None = None
        self._looked: set[tuple[int, int]] = set()  # attempts, after they were lost

    def take(self, frame: AnyFrame) -> None:
        """An agent reports them. Raises msgspec.ValidationError."""
        report = msgspec.convert(frame, _Report)
        self._add([TakenFingerprint(JobId(job), attempt, report.fingerprint) for job, attempt in report.attempts])

    def _add(self, taken: list[TakenFingerprint]) -> None:
        if not self._taken:
            asyncio.get_running_loop().call_later(COMMIT_EVERY_S, self._commit)
        self._taken += taken

    def _commit(self) -> None:
        taken, self._taken = self._taken, []
        self._engine.put(Decision(answer=None, fingerprints=taken))

    def of_job(self, job: int) -> Fingerprint | None:
        """What its latest attempt was started with; None if that is not known."""
        waiting = [one.fingerprint for one in self._taken if one.job == job]
        if waiting:
            return waiting[-1]
        stored = self._reader.fingerprint(job)
        return None if stored is None else stored.fingerprint

    def before(self, job: Job) -> Fingerprint | None:
        """As `of_job`; of a job that has not started yet, what the job was started with that it repeats."""
        found = self.of_job(job.id)
        return self.of_job(job.spec.rerun_of) if found is None and job.spec.rerun_of is not None else found

    async def today(self, job: Job) -> Fingerprint | None:
        """What the job would be started with now; None if its node does not answer."""
        node = self._node_of(job)
        return None if node is None else await self._ask(node, self._subject_of(job))

    # Those that were lost with the last controller

    def begin(self) -> None:
        """Take them again for jobs that still run, once their nodes are connected."""
        self._looking = asyncio.create_task(self._take_lost(self._engine.now()))

    def end(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _take_lost(self, began: float) -> None:
        for _ in range(LOOKS):
            await asyncio.sleep(LOOK_EVERY_S)
            lost: dict[_Asked, list[Job]] = {}
            for job, node in self._without(began):
                lost.setdefault(_Asked(node, tuple(self._subject_of(job).items())), []).append(job)
            for (node, subject), jobs in lost.items():
                found = await self._ask(node, cast("FingerprintSubject", dict(subject)))
                self._looked |= {(job.id, job.attempt) for job in jobs if self._fleet.is_connected(node)}
                if found is not None:
                    self._add([TakenFingerprint(job.id, job.attempt, found) for job in jobs])

    def _without(self, began: float) -> Iterator[tuple[Job, NodeName]]:
        """The attempts that nothing is known of, and that started shortly before `began`."""
        state = self._engine.state
        known = {(one.job, one.attempt) for one in self._taken} | self._looked
        for node in state.nodes.values():
            for job in [state.jobs[number] for number in node.host] if self._fleet.is_connected(node.name) else ():
                status, is_known = job.status, (job.id, job.attempt) in known
                if is_known or not is_working(status) or job.spec.is_adopted or status.booking.node != node.name:
                    continue
                if not began - LOST_WITHIN_S <= status.started_at <= began:
                    continue
                stored = self._reader.fingerprint(job.id)
                if stored is None or stored.attempt != job.attempt:
                    yield job, node.name

    async def _ask(self, node: NodeName, subject: FingerprintSubject) -> Fingerprint | None:
        if not self._fleet.is_connected(node):
            return None
        return msgspec.convert(await take_fingerprint(self._fleet, node, subject), Fingerprint | None)

    def _subject_of(self, job: Job) -> FingerprintSubject:
        variables = self._reader.public_environment(job.spec.environment)
        return {
            "program": job.spec.command[0] if job.spec.command else "",
            "cwd": job.spec.cwd,
            "path": variables.get("PATH") or "",
            "home": variables.get("HOME") or "",
            "python_path": variables.get("PYTHONPATH") or "",
            "no_user_site": bool(variables.get("PYTHONNOUSERSITE")),
            "venv": job.spec.venv or "",
            "conda": job.spec.conda or "",
        }

    def _node_of(self, job: Job) -> NodeName | None:
        """Where it runs or ran; of a job that has not started yet, where the job ran that it repeats."""
        booking = holds_booking(job.status) or getattr(job.status, "booking", None)
        if booking is not None:
            return booking.node
        original = None if job.spec.rerun_of is None else self._reader.job(job.spec.rerun_of)
        ran = job if original is None or job.attempt else original
        return self._reader.node_of_attempt(ran.id, ran.attempt)


def changes(then: Fingerprint, now: Fingerprint) -> list[PackageChange]:
    """The interpreter first, then packages by name."""
    found = [PackageChange("python", then.version, now.version)] if then.version != now.version else []
    names = sorted(then.packages.keys() | now.packages.keys())
    pairs = [PackageChange(name, then.packages.get(name), now.packages.get(name)) for name in names]
    return [*found, *(pair for pair in pairs if pair.then != pair.now)]
