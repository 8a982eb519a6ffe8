"""Storage of the queue mode, reservations, GPU hours and edited jobs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.node import NodeDrain
from tarmac.core.model.note import Note
from tarmac.core.model.queue import Mode, Reservation
from tarmac.core.model.status import Draft, Held, Queued
from tarmac.store.batch import Batch
from tarmac.store.store import DURATIONS_LOOKED_AT, HOUR_S, HOURS_LOOKED_AT, Store
from tests.core.support.builders import a_job, a_status
from tests.store.kept import changed, commit, new, opened


def a_reservation(number: int, owner: str = "ann") -> Reservation:
    return Reservation(
        id=number,
        owner=owner,
        node=NodeName("box"),
        gpus=(GpuUuid("box-0"), GpuUuid("box-1")),
        begins_at=1.5,
        ends_at=99.0,
        by="root",
    )


def kept(store: Store, **changes: object) -> None:
    commit(store, Batch(changes=Changes(**changes)))  # type: ignore[arg-type]


def test_drained_nodes_are_stored_until_they_are_resumed(path: Path) -> None:
    by_hand = NodeDrain(reason="new fans", by="ann", since=5.0)
    by_itself = NodeDrain(reason=Note("drained.failures", (("count", 3),)), by=None, since=6.0)
    with opened(path) as store:
        kept(store, node_drains={NodeName("a"): by_hand, NodeName("b"): by_itself})
        assert {name: node.drain for name, node in store.load().nodes.items()} == {"a": by_hand, "b": by_itself}
        kept(store, node_drains={NodeName("a"): None})
        assert {name: node.drain for name, node in store.load().nodes.items()} == {"b": by_itself}


def test_notes_of_another_version_can_be_loaded(path: Path) -> None:
    mode = Mode(is_paused=True, reason=Note("paused.from_2031", (("why", Note("cause.from_2031")),)), since=1.0)
    ended = replace(a_job(1), status=replace(a_status("unknown"), message=Note("unknown.from_2031")))
    with opened(path) as store:
        commit(store, new(ended))
        kept(store, mode=mode)
    with opened(path) as store:
        assert store.load().mode == mode
        assert store.reader.job(1) == ended


def test_a_held_job_and_a_draft_come_back_as_they_were(path: Path) -> None:
    held = replace(a_job(1), status=Held(by="ann", since=3.5), group=JobId(1), position=0.125)
    draft = replace(a_job(2), status=Draft())
    with opened(path) as store:
        commit(store, new(held, draft))
    with opened(path) as store:
        assert store.load().jobs == {1: held, 2: draft}


def test_an_edited_spec_is_stored(path: Path) -> None:
    job = a_job(1)
    edited = replace(job, spec=replace(job.spec, name="other", priority=3), position=2.5)
    with opened(path) as store:
        commit(store, new(job))
        kept(store, changed={1: edited}, edited={1})
    with opened(path) as store:
        assert store.reader.job(1) == edited
        (name,) = store.reader._connection.execute("SELECT name FROM jobs WHERE id = 1").fetchone()
    assert name == "other"


def test_a_new_job_edited_at_once_is_written_once(store: Store) -> None:
    job = a_job(1)
    kept(store, new=[job], changed={1: job}, edited={1})
    assert store.reader.job(1) == job


def test_the_newest_mode_is_restored(path: Path) -> None:
    with opened(path) as store:
        assert store.load().mode == Mode()
        kept(store, mode=Mode(is_draining=True, by="ann"))
        kept(store, mode=Mode(is_paused=True, reason="10 jobs in a row failed", since=7.0))
    with opened(path) as store:
        assert store.load().mode == Mode(is_paused=True, reason="10 jobs in a row failed", since=7.0)


def test_reservations_change_and_end_and_ids_are_never_reused(path: Path) -> None:
    with opened(path) as store:
        kept(store, reservations={1: a_reservation(1), 2: a_reservation(2)})
        kept(store, reservations={1: replace(a_reservation(1), is_used=True), 2: None})
    with opened(path) as store:
        state = store.load()
        assert state.reservations == {1: replace(a_reservation(1), is_used=True)}
        assert state.next_reservation == 3


def test_gpu_hours_add_up(path: Path) -> None:
    for _ in range(2):
        with opened(path) as store:
            kept(store, hours={(5, "ann", ""): 30.0, (5, "ann", "p"): 1.0})
    with opened(path) as store:
        assert store.reader.gpu_hours(0) == [(5, "ann", "", 60.0), (5, "ann", "p", 2.0)]
        assert store.reader.gpu_hours(6) == []


def test_only_recent_gpu_hours_are_loaded(store: Store) -> None:
    now = 2_000_000_000.0
    hour = int(now) // HOUR_S
    kept(store, hours={(hour - 1, "ann", "p"): 7200.0, (hour - HOURS_LOOKED_AT - 1, "bob", ""): 7200.0})
    commit(store, new(a_job(1), a_job(2)))
    commit(store, changed(a_job(2, status=a_status("succeeded"))))
    state = store.load(now)
    store.load_past(state, now)
    assert state.ledger.week_hours_of_owner("ann", now) == 2.0
    assert "bob" not in state.ledger.hours_of_owner
    assert state.runtimes.expected_s(a_job(3).spec) == 20.0, "as long as job 2 took"


def test_ended_jobs_are_listed_newest_first_up_to_a_limit(store: Store) -> None:
    commit(store, new(*(a_job(number) for number in range(1, 6))))
    commit(store, changed(*(a_job(number, status=a_status("succeeded")) for number in (1, 3, 4))))
    assert [job.id for job in store.reader.ended_jobs(2)] == [4, 3]
    assert [job.id for job in store.reader.ended_jobs(DURATIONS_LOOKED_AT)] == [4, 3, 1]
    assert all(isinstance(job.status, Queued) for job in store.load().jobs.values())
