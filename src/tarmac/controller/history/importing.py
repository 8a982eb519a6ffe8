"""Imports exported jobs, some at a time, and each once.

A job keeps its id if this queue never gave it to another job, and gets its old id back if it was exported here.
Otherwise it gets a new one, behind all ids of the file. The database remembers where a job came from.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.engine.decision import Decision
from tarmac.controller.engine.unknown_runs import SkippedIds
from tarmac.controller.log_paths import default_log
from tarmac.core.model.ids import JobId
from tarmac.refusal import conflict, invalid, not_allowed, unavailable
from tarmac.shared import crashpoint
from tarmac.store.database import schema
from tarmac.store.database.database import connect_reader
from tarmac.store.history import incoming, records
from tarmac.store.history.incoming import ImportedJob, Trial
from tarmac.store.history.record_checks import WrongRecord
from tarmac.store.history.restored import SKIPPED_IDS
from tarmac.store.reader import JobFilter

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tarmac.controller.engine.engine import Engine
    from tarmac.controller.history.history import History
    from tarmac.controller.requests.permissions import Caller
    from tarmac.core.state import State
    from tarmac.store.environments.environments import StoredEnvironment
    from tarmac.store.history.incoming import Known, Origin
    from tarmac.store.history.records import Record
    from tarmac.store.store import Store


FAR = 10_000_000  # a job whose id is this much higher than all others here gets a new one


class Line(NamedTuple):
    """A record, and where it is in the file."""

    number: int
    record: Any


class Result(NamedTuple):
    id: int
    is_new: bool


class Prepared(NamedTuple):
    """A record that is not here yet."""

    record: Record
    origin: Origin
    known: Known
    environment: str
    is_at_home: bool  # it was submitted in this queue

    @property
    def key(self) -> tuple[str, int, float]:
        """Equal for lines about the same job."""
        return self.origin.queue, self.origin.id, self.origin.submitted_at


class Importer:
    def __init__(self, engine: Engine, store: Store, history: History, state_folder: Path) -> None:
        self._engine = engine
        self._store = store
        self._history = history
        self._state_folder = state_folder
        self._turn = asyncio.Lock()  # the same file may be imported twice at once

    async def add(
        self, header: Record, lines: Sequence[Line], *, above: int, caller: Caller, dry_run: bool
    ) -> list[Result]:
        """Store the jobs that are not here yet, all or none. Returns the ids of all, in the order of the lines.

        `above` is the highest id of the file, of which this may be a part.
        """
        queue = checked_header(header)
        await asyncio.to_thread(_check, lines, queue, caller)
        if dry_run:
            return []
        async with self._turn:
            environments: dict[str, StoredEnvironment] = {}
            found = await asyncio.to_thread(self._prepare, lines, queue, environments)
            fresh = list({one.key: one for one in found if isinstance(one, Prepared)}.values())
            given: dict[tuple[str, int, float], int] = {}
            if fresh:
                numbers = await self._engine.decide(self._plan(fresh, environments, above))
                given = {one.key: number for one, number in zip(fresh, numbers, strict=True)}
                self._history.imported()
            crashpoint.reach("keep:after-import")
        results, seen = [], set[int]()
        for one in found:
            number = one if isinstance(one, int) else given[one.key]
            results.append(Result(number, isinstance(one, Prepared) and number not in seen))
            seen.add(number)
        return results

    def _prepare(
        self, lines: Sequence[Line], queue: str, environments: dict[str, StoredEnvironment]
    ) -> list[Prepared | int]:
        """In a thread: for each line its job's id if it is here, or what to store."""
        found: list[Prepared | int] = []
        with closing(connect_reader(self._store.path)) as connection:
            mine = records.queue_id(connection)
            for line in lines:
                record = line.record
                origin = incoming.origin_of(record, queue)
                owner = record["job"]["owner"]
                is_at_home = origin.queue == mine
                known = incoming.known(connection, origin, owner, is_at_home=is_at_home)
                if known.existing is not None:
                    found.append(known.existing)
                    continue
                digest = self._environment(connection, record, environments)
                found.append(Prepared(record, origin, known, digest, is_at_home))
        return found

    def _environment(
        self, connection: sqlite3.Connection, record: Record, environments: dict[str, StoredEnvironment]
    ) -> str:
        """The hash of the job's environment here, with its secrets if this queue has them. Empty: it is not known."""
        digest: str = record["job"]["spec"].get("environment", "")
        is_here = incoming.is_environment_of(connection, digest, record["job"]["owner"])
        variables = record.get("environment")
        if not isinstance(variables, dict):
            return digest if is_here else ""
        if is_here and records.environment(connection, digest) == variables:
            return digest
        public = {name: value for name, value in variables.items() if value is not None}
        # A job that needs the others fails to start, and its message names them.
        packed = self._store.pack_environment(public, variables.keys() - public.keys())
        environments[packed.digest] = packed.stored
        return packed.digest

    def _plan(
        self, jobs: Sequence[Prepared], environments: dict[str, StoredEnvironment], above: int
    ) -> Callable[[State], Decision[list[int]]]:
        engine, reader = self._engine, self._store.reader

        def plan(state: State) -> Decision[list[int]]:
            skipped, next_id = SkippedIds(engine.skipped.text()), state.next_id
            settings: dict[str, str | None] = {}
            asked = [one.origin.id if one.known.former is None else one.known.former for one in jobs]
            highest = max((number for number in (above, *asked) if number < next_id + FAR), default=0)
            if highest >= next_id:  # these ids were never given to a job
                settings[SKIPPED_IDS] = skipped.add(next_id, highest)
                next_id = highest + 1
            taken = {*reader.select_ids(JobFilter(ids=tuple(range(one, one + 1) for one in asked)))}
            taken |= {number for number in asked if number in state.jobs or number in engine.removing}
            ids = _ids_for(jobs, asked, taken, skipped, next_id)
            next_id = max([next_id, *(number + 1 for number in ids)])

            def install() -> Callable[[], None]:
                before = engine.skipped, state.next_id
                engine.skipped, state.next_id = skipped, next_id

                def undo() -> None:
                    engine.skipped, state.next_id = before

                return undo

            stored = [
                ImportedJob(number, one.record, one.origin, one.environment)
                for one, number in zip(jobs, ids, strict=True)
            ]
            return Decision(
                answer=ids,
                imported=stored,
                ids_upto=next_id - 1,
                environments=environments,
                settings=settings,
                install=install,
            )

        return plan

    async def add_log(self, job: int, attempt: int, *, offset: int, data: bytes, caller: Caller) -> None:
        """Add a part of a log that was exported with an imported job. A part that is there is not added again."""

        def write() -> None:
            with closing(connect_reader(self._store.path)) as connection:
                found = incoming.imported_job(connection, job)
            if found is None or not 1 <= attempt <= found.attempt:
                raise conflict("history.not_imported", job=job, attempt=attempt)
            if found.owner != caller.name and not caller.is_admin:
                raise not_allowed("permission.not_owner", job=job, owner=found.owner, caller=caller.name)
            try:
                _write_at(default_log(self._state_folder, JobId(job), attempt), offset, data)
            except OSError as error:
                raise unavailable("history.log_not_written", job=job, error=error.strerror) from error

        await asyncio.to_thread(write)


def _ids_for(
    jobs: Sequence[Prepared], asked: Sequence[int], taken: set[int], skipped: SkippedIds, next_id: int
) -> list[int]:
    """The id that each job asks for, where it may have it; otherwise a new one."""
    in_use = range(1, next_id)
    ids: list[int] = []
    for one, number in zip(jobs, asked, strict=True):
        may_have = one.is_at_home or one.known.former is not None or number in skipped
        if number in taken or not may_have or number not in in_use or (one.known.is_taken and one.known.former is None):
            number, next_id = next_id, next_id + 1
        taken.add(number)
        ids.append(number)
    return ids


def checked_header(header: Any) -> str:
    """The name of the queue that a file is from. Refuses files that are not ours, or are newer."""
    if not isinstance(header, dict) or not isinstance(header.get("tarmac_export"), int):
        raise invalid("history.not_an_export")
    if header["tarmac_export"] > records.FORMAT or not isinstance(header.get("schema"), int):
        raise invalid("history.newer_export", version=header.get("version"))
    if header["schema"] > schema.VERSION:
        raise invalid("history.newer_export", version=header.get("version"))
    return str(header.get("queue") or "")


def _check(lines: Sequence[Line], queue: str, caller: Caller) -> None:
    with closing(Trial()) as trial:
        for line in lines:
            try:
                job = trial.check(line.record, queue)
            except WrongRecord as error:
                raise invalid("history.wrong_record", line=line.number, what=error.what, detail=error.detail) from None
            if job.spec.owner != caller.name and not caller.is_admin:
                raise not_allowed("history.others_job", line=line.number, owner=job.spec.owner, caller=caller.name)


def _write_at(path: str, offset: int, data: bytes) -> None:
    """Write it if the file ends there, or within it because a crash cut it off."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if offset <= os.fstat(descriptor).st_size < offset + len(data):
            os.pwrite(descriptor, data, offset)
    finally:
        os.close(descriptor)
