"""GPU time of nodes by the hour: added up, and read over all nodes."""

from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.store.batch import Batch
from tarmac.store.node_hours import HourSums, NodeHour
from tests.store.kept import commit, opened


def batch(*hours: NodeHour) -> Batch:
    return Batch(changes=Changes(), hours=list(hours))


def test_hours_are_added_up_over_commits_and_nodes(path: Path) -> None:
    with opened(path) as store:
        commit(store, batch(NodeHour(at=3600, node="a", present_s=60, held_s=30, measured_s=60, used_s=20)))
        commit(store, batch(NodeHour(at=3600, node="a", present_s=60), NodeHour(at=3600, node="b", used_s=1)))
        commit(store, batch(NodeHour(at=7200, node="a", present_s=5)))
        assert store.reader.hour_sums(0, 7200) == {3600: HourSums(120, 30, 60, 21)}
        assert set(store.reader.hour_sums(3600, 7201)) == {3600, 7200}
        assert store.reader.first_hour() == 3600


def test_nothing_is_known_at_first(path: Path) -> None:
    with opened(path) as store:
        assert (store.reader.hour_sums(0, 1e12), store.reader.first_hour()) == ({}, None)
