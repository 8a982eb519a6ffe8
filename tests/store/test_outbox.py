"""The outbox: written with the event, read by target, emptied as messages are sent."""

from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.core.model.ids import JobId
from tarmac.store.batch import Batch
from tarmac.store.outbox import Delayed, Notification, OutboxChanges
from tarmac.store.store import Store
from tests.store.kept import commit, opened


def a_notification(target: str = "mail", owner: str = "ann", at: float = 100.0, due_at: float = 110.0) -> Notification:
    return Notification(
        owner=owner, target=target, at=at, event="end", job=7, detail={"state": "succeeded"}, due_at=due_at
    )


def write(store: Store, **changes: list[object]) -> None:
    commit(store, Batch(changes=Changes(), outbox=OutboxChanges(**changes)))  # type: ignore[arg-type]


def test_what_was_added_is_there_after_a_restart_in_order(path: Path) -> None:
    added = [a_notification(at=float(number)) for number in range(3)]
    with opened(path) as store:
        write(store, added=[*added])
    with opened(path) as store:
        found = store.reader.outbox.waiting("ann", "mail", 10)
        assert [one.token for one in found] == [one.token for one in added]
        assert (found[0].event, found[0].job, found[0].detail, found[0].tries) == ("end", 7, {"state": "succeeded"}, 0)
        assert [one.token for one in store.reader.outbox.waiting("ann", "mail", 2)] == [one.token for one in added[:2]]
        assert store.reader.outbox.waiting("bob", "mail", 10) == []


def test_what_was_sent_is_gone(path: Path) -> None:
    first, second = a_notification(), a_notification()
    with opened(path) as store:
        write(store, added=[first, second])
        write(store, sent=[first.token, "unknown"])
        assert [one.token for one in store.reader.outbox.waiting("ann", "mail", 10)] == [second.token]


def test_a_target_that_failed_is_due_when_its_pause_is_over_whatever_came_since(path: Path) -> None:
    first = a_notification()
    with opened(path) as store:
        write(store, added=[first])
        write(store, delayed=[Delayed(first.token, 500.0, '{"kind":"failed"}', None)])
        write(store, added=[a_notification(due_at=120.0)])
        (queue,) = store.reader.outbox.targets()
        assert (queue.due_at, queue.tries, queue.waiting, queue.failed) == (500.0, 1, 2, 0)
        assert queue.error == '{"kind":"failed"}'


def test_each_target_has_a_queue_of_its_own(path: Path) -> None:
    with opened(path) as store:
        write(store, added=[a_notification("b"), a_notification("a"), a_notification("a", owner="bob")])
        found = [(queue.owner, queue.target, queue.waiting) for queue in store.reader.outbox.targets()]
        assert found == [("ann", "a", 1), ("ann", "b", 1), ("bob", "a", 1)]


def test_what_was_given_up_counts_for_a_week_and_is_not_sent(path: Path) -> None:
    old, new = a_notification(), a_notification()
    with opened(path) as store:
        write(store, added=[old, new])
        write(store, delayed=[Delayed(old.token, 1000.0, "{}", 1000.0)])
        (queue,) = store.reader.outbox.targets()
        assert (queue.waiting, queue.failed) == (1, 1)
        assert [one.token for one in store.reader.outbox.waiting("ann", "mail", 10)] == [new.token]
        write(store, delayed=[Delayed(new.token, 1e6, "{}", 1e6)])
        (queue,) = store.reader.outbox.targets()
        assert (queue.failed, queue.given_up_at) == (2, 1000.0)
        commit(store, Batch(changes=Changes(), outbox=OutboxChanges(given_up_before=2000.0)))
        (queue,) = store.reader.outbox.targets()
        assert (queue.waiting, queue.failed, queue.given_up_at) == (0, 1, 1e6)


def test_of_a_removed_job_only_what_is_still_to_be_sent_stays(path: Path) -> None:
    failed, waiting = a_notification(), a_notification()
    with opened(path) as store:
        write(store, added=[failed, waiting])
        write(store, delayed=[Delayed(failed.token, 1000.0, "{}", 1000.0)])
        commit(store, Batch(changes=Changes(), removed=[JobId(8)]))
        assert store.reader.outbox.targets()[0].failed == 1
        commit(store, Batch(changes=Changes(), removed=[JobId(7)]))
        (queue,) = store.reader.outbox.targets()
        assert (queue.waiting, queue.failed) == (1, 0)


def test_a_batch_with_nothing_else_is_written(path: Path) -> None:
    assert Batch(changes=Changes(), outbox=OutboxChanges(sent=["x"]))
    assert not Batch(changes=Changes(), outbox=OutboxChanges())
