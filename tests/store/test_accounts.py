"""The roll-up of GPU time and the memory of past jobs: added up, read by groups, and kept when jobs are removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tarmac.core.changes import Changes
from tarmac.store import accounts
from tarmac.store.accounts import Account, Key, MemoryPeak, Scope, Sums, Usage
from tarmac.store.batch import Batch
from tests.controller.accounts.zones import zone
from tests.store.kept import commit, opened, removed
from tests.store.write_schema import FOLDER, HOURS


def an_account(day: str = "2026-11-16", **more: object) -> Account:
    return Account(**{"day": day, "owner": "ann", "node": "box", "gpu": "g0", "held_s": 10.0, **more})  # type: ignore[arg-type]


def batch(*rows: Account, **more: object) -> Batch:
    return Batch(changes=Changes(), accounts=list(rows), **more)  # type: ignore[arg-type]


@contextmanager
def a_usage_of_job(path: Path, *usage: Usage) -> Iterator[Usage | None]:
    with opened(path) as store:
        for one in usage:
            commit(store, Batch(changes=Changes(), usage=[one]))
        yield store.reader.usage(7)


def test_rows_of_the_same_key_are_added_up(path: Path) -> None:
    rows = [
        an_account(used_s=4.0, measured_s=8.0, energy_j=5.0, peak_bytes=9, jobs=1),
        an_account(pause_s=1.0, peak_bytes=3),
        an_account(energy_j=2.0),
    ]
    with opened(path) as store:
        for row in rows:
            commit(store, batch(row))
        assert store.reader.account_sums("owner", Scope("2026-11-16", "2026-11-16")) == {
            Key("job", "", "ann"): Sums(30.0, 1.0, 8.0, 4.0, 7.0, 9, 1)
        }


def test_what_is_not_known_stays_unknown(path: Path) -> None:
    with opened(path) as store:
        commit(store, batch(an_account(), an_account()))
        (found,) = store.reader.account_sums("owner", Scope("0", "9")).values()
    assert (found.held_s, found.energy_j, found.peak_bytes) == (20.0, None, None)


def test_every_group_reads_the_same_time(path: Path) -> None:
    rows = [
        an_account(project="p"),
        an_account("2026-11-17", owner="bob", gpu="g1"),
        an_account(kind="foreign", owner="eve"),
    ]
    with opened(path) as store:
        commit(store, batch(*rows))
        found = {
            by: store.reader.account_sums(by, Scope("2026-11-16", "2026-11-17"))
            for by in ("owner", "project", "gpu", "day")
        }  # type: ignore[arg-type]
        assert store.reader.account_sums("owner", Scope("2026-11-17", "2026-11-17")).keys() == {Key("job", "", "bob")}
        assert store.reader.first_account_day() == "2026-11-16"
    assert {by: sum(one.held_s for one in rows.values()) for by, rows in found.items()} == dict.fromkeys(found, 30.0)
    assert set(found["gpu"]) == {Key("job", "box", "g0"), Key("job", "box", "g1"), Key("foreign", "box", "g0")}
    assert set(found["day"]) == {
        Key("job", "", "2026-11-16"),
        Key("job", "", "2026-11-17"),
        Key("foreign", "", "2026-11-16"),
    }


def test_a_report_of_one_owner_or_project_leaves_out_the_others(path: Path) -> None:
    rows = [
        an_account(project="p"),
        an_account(owner="bob"),
        an_account(owner="bob", project="p"),
        an_account(kind="foreign", owner="bob"),
    ]
    with opened(path) as store:
        commit(store, batch(*rows))
        for owner, project, expected in (("bob", None, 20.0), (None, "p", 20.0), ("bob", "p", 10.0), (None, "", 10.0)):
            scope = Scope("0", "9", owner, project)
            assert sum(one.held_s for one in store.reader.account_sums("day", scope).values()) == expected
            assert sum(row.held_s for row in rows if scope.covers(row)) == expected
        assert store.reader.account_sums("owner", Scope("0", "9", "nobody")) == {}
    assert not Scope("2026-11-17", "9").covers(rows[0])


def test_the_use_of_all_attempts_of_a_job_is_added_up(path: Path) -> None:
    first = Usage(7, 5, 100.0, 10.0, held_s=20.0, pause_s=1.0, measured_s=10.0, used_s=10.0)
    second = Usage(7, 9, 0.0, None, held_s=30.0, measured_s=30.0, used_s=0.0)
    with a_usage_of_job(path, first, second) as found:
        assert found == Usage(7, 9, 25.0, 10.0, held_s=50.0, pause_s=1.0, measured_s=40.0, used_s=10.0)


def test_an_attempt_without_readings_does_not_hide_what_is_known(path: Path) -> None:
    with a_usage_of_job(path, Usage(7, 5, 80.0, 10.0, measured_s=10.0, used_s=8.0), Usage(7, held_s=3.0)) as found:
        assert found == Usage(7, 5, 80.0, 10.0, held_s=3.0, measured_s=10.0, used_s=8.0)


def test_accounts_and_peaks_stay_when_a_job_is_removed(path: Path) -> None:
    peak = MemoryPeak(owner="ann", kind="name:train", job=7, at=1.0, peak_bytes=5)
    with opened(path) as store:
        commit(store, batch(an_account(), peaks=[peak], usage=[Usage(7, 5)]))
        commit(store, removed(7))
        assert store.reader.usage(7) is None
        assert store.reader.account_sums("owner", Scope("0", "9"))
        assert store.reader.memory_peaks("ann", "name:train") == [5]


def peaks(store: object, *numbers: int, kind: str = "name:a") -> Batch:
    made = [MemoryPeak(owner="ann", kind=kind, job=n, at=float(n), peak_bytes=100 + n) for n in numbers]
    return Batch(changes=Changes(), accounts=[an_account()], peaks=made)


def test_only_the_last_peaks_of_a_name_are_kept(path: Path) -> None:
    with opened(path) as store:
        commit(store, peaks(store, *range(1, 8)))
        commit(store, peaks(store, 3, kind="name:b"))
        assert store.reader.memory_peaks("ann", "name:a") == [107, 106, 105, 104, 103]
        assert store.reader.memory_peaks("ann", "name:b") == [103]
        assert store.reader.memory_peaks("bob", "name:a") == []


def test_the_oldest_peaks_of_all_are_deleted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "MOST_PEAKS", 2)
    with opened(path) as store:
        for number in range(1, 5):
            commit(store, peaks(store, number, kind=f"name:{number}"))
        commit(store, Batch(changes=Changes(), samples_from=1))
        left = [number for number in range(1, 5) if store.reader.memory_peaks("ann", f"name:{number}")]
    assert left == [3, 4]


@pytest.mark.parametrize("version", [3, 6])
def test_the_gpu_hours_of_an_older_database_are_in_the_roll_up(path: Path, version: int) -> None:
    shutil.copy(FOLDER / f"v{version}.db", path)
    with zone("UTC"), opened(path) as store:
        found = store.reader.account_sums("owner", Scope("1970-01-01", "1970-01-01"))
    assert {key.name: sums.held_s for key, sums in found.items()} == {
        owner: gpu_s for (_, owner, _), gpu_s in HOURS.items()
    }
