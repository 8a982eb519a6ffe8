"""Records of jobs contain everything that belongs to them, and are stored again as they were."""

from __future__ import annotations

from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tarmac.core.changes import Changes
from tarmac.core.model.attempt import Attempt
from tarmac.core.model.ids import JobId
from tarmac.core.model.note import Note
from tarmac.store.accounts import Usage
from tarmac.store.batch import Batch, Link
from tarmac.store.database import schema
from tarmac.store.database.database import connect_reader
from tarmac.store.environments.fingerprints import Fingerprint, TakenFingerprint
from tarmac.store.groups import Group
from tarmac.store.history import incoming
from tarmac.store.history.incoming import ImportedJob, Known, Trial, origin_of
from tarmac.store.history.record_checks import WrongRecord
from tarmac.store.history.records import NOT_EXPORTED, TABLES, records
from tarmac.store.store import Store
from tests.core.support.builders import a_booking
from tests.store.history.past import ended
from tests.store.kept import a_line, commit, opened

SNAPSHOT = {"tree": "0f" * 32, "root": "/r", "directory": "a/b", "links": ["data"]}
GROUP = Group(
    id=1,
    owner="ann",
    kind="sweep",
    name="g",
    command="c {lr}",
    varies="lr=1,2",
    params=("lr",),
    indices=None,
    count=2,
    submitted_at=100.0,
)


def attempt(number: int, message: Note | str | None = None) -> Attempt:
    return Attempt(
        job=JobId(1),
        number=number,
        end="failed",
        booking=a_booking(0, 1),
        pid=7,
        started_at=1.5,
        ended_at=2.5,
        reason="exit",
        exit_code=3,
        signal=None,
        message=message,
        error_line="line",
        paused_s=0.25,
    )


@pytest.fixture
def full(store: Store) -> Store:
    """With two jobs of a group that have all kinds of rows."""
    fill(store)
    return store


def fill(store: Store) -> None:
    jobs = [replace(ended(number, params=(("lr", str(number)),), tags=("t",)), group=JobId(1)) for number in (1, 2)]
    packed = store.pack_environment({"A": "1", "API_TOKEN": "hidden"})
    jobs[0] = replace(jobs[0], spec=replace(jobs[0].spec, environment=packed.digest), retried=2, ooms=1)
    commit(store, Batch(changes=Changes(new=jobs), groups=[GROUP], environments={packed.digest: packed.stored}))
    lines = [a_line(1, "Decided", node="box", gpus=[0]), a_line(1, "JobExited", message="ünï")]
    told = Changes(attempts=[attempt(1, "text"), attempt(2, Note("unknown.gone"))], story=lines)
    usage = Usage(1, peak_gpu_memory_bytes=5, utilization=9.5, energy_j=1.0, held_s=2.0)
    taken = TakenFingerprint(
        JobId(1), 2, Fingerprint(python="/bin/python", version="3.11.7", packages={"torch": "2.3"})
    )
    commit(store, Batch(changes=told, usage=[usage], usage_of_attempts={(JobId(1), 2): usage}, fingerprints=[taken]))
    commit(store, Batch(changes=Changes(), links=[Link(1, "wandb", "https://w/1")]))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The records of these jobs."""
    with opened(tmp_path_factory.mktemp("records") / "tarmac.db") as store:
        fill(store)
        return exported(store)


def exported(store: Store, *, with_environment: bool = False) -> list[dict[str, Any]]:
    with closing(connect_reader(store.path)) as connection:
        return list(records(connection, range(1, 100), with_environment=with_environment))


def test_every_table_is_exported_or_known_not_to_be(store: Store) -> None:
    with closing(connect_reader(store.path)) as connection:
        found = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    tables = {name for name in found if not name.startswith("sqlite_")}
    assert sorted(tables) == sorted(["jobs", "groups", *(table.name for table in TABLES), *NOT_EXPORTED])
    assert schema.VERSION >= 8


def test_a_record_has_everything_but_the_environment_unless_asked(full: Store) -> None:
    first, second = exported(full)
    assert [event["kind"] for event in first["events"]] == ["JobSubmitted", "Decided", "JobExited"]
    assert [one["message"] for one in first["attempts"]] == ["text", {"key": "unknown.gone", "values": []}]
    assert first["usage"][0]["held_s"] == 2.0
    assert first["links"] == [{"kind": "wandb", "url": "https://w/1"}]
    assert (first["group"]["name"], second["group"]["name"]) == ("g", "g")
    assert first["job"]["spec"]["params"] == [["lr", "1"]]
    assert "environment" not in first
    assert exported(full, with_environment=True)[0]["environment"] == {"A": "1", "API_TOKEN": None}
    assert b"hidden" not in str(exported(full, with_environment=True)).encode()


def stored(full: Store, path: Path, ids: dict[int, int]) -> list[dict[str, Any]]:
    """What another database exports after it imported all."""
    lines = exported(full)
    jobs = [ImportedJob(ids[one["job"]["id"]], one, origin_of(one, "q"), "") for one in lines]
    with opened(path) as other:
        commit(other, Batch(changes=Changes(), imported=jobs, ids_upto=20))
        assert other.reader.next_id() == 21
        return exported(other)


def test_a_record_is_stored_as_it_was(full: Store, tmp_path: Path) -> None:
    there = stored(full, tmp_path / "other.db", {1: 1, 2: 2})
    for mine, theirs in zip(exported(full), there, strict=True):
        assert theirs.pop("original") == {"queue": "q", "id": mine["job"]["id"]}
        assert theirs["job"]["spec"].pop("environment") == ""
        mine["job"]["spec"].pop("environment")
        assert theirs == mine


def test_a_group_moves_with_its_jobs(full: Store, tmp_path: Path) -> None:
    there = stored(full, tmp_path / "other.db", {1: 11, 2: 12})
    assert [one["job"]["id"] for one in there] == [11, 12]
    assert [one["job"]["group_id"] for one in there] == [11, 11]
    assert [one["group"]["id"] for one in there] == [11, 11]


def test_another_group_in_the_place_is_left_alone(full: Store) -> None:
    (first, _) = exported(full)
    other = {**first, "job": {**first["job"], "id": 5}, "group": {**first["group"], "owner": "bob"}}
    commit(full, Batch(changes=Changes(), imported=[ImportedJob(5, other, origin_of(other, "q"), "")], ids_upto=5))
    assert exported(full)[-1]["job"]["group_id"] is None
    assert exported(full)[0]["group"]["owner"] == "ann"


def test_an_imported_job_is_recognized(full: Store) -> None:
    (first, _) = exported(full)
    mine = origin_of(first, "q")
    moved = ImportedJob(9, first, mine._replace(id=7), "")
    commit(full, Batch(changes=Changes(), imported=[moved], ids_upto=9))
    with closing(connect_reader(full.path)) as connection:

        def known(owner: str = "ann", *, is_at_home: bool = True, **other: Any) -> Known:
            return incoming.known(connection, mine._replace(**other), owner, is_at_home=is_at_home)

        assert known().existing == 1
        assert known(is_at_home=False).is_taken
        assert known("bob").is_taken
        assert known(submitted_at=5.0).is_taken
        assert known(id=8) == Known()
        assert known(id=7, is_at_home=False).existing == 9
        assert known("bob", id=7, is_at_home=False) == Known()
        assert known(id=7, queue="r", is_at_home=False) == Known()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda record: record.pop("job"), "damaged"),
        (lambda record: record["job"].update(state="running"), "not_ended"),
        (lambda record: record["job"].update(state="queued", status={}), "not_ended"),
        (lambda record: record["job"].update(id=0), "damaged"),
        (lambda record: record["job"].update(id="x"), "damaged"),
        (lambda record: record["job"].update(id=2**60), "damaged"),
        (lambda record: record["job"].update(owner="bob"), "damaged"),
        (lambda record: record["job"].update(extra=1), "damaged"),
        (lambda record: record["job"].update(name=["list"]), "damaged"),
        (lambda record: record["job"].update(submitted_at=None), "damaged"),
        (lambda record: record["job"].update(spec={}), "damaged"),
        (lambda record: record["job"].update(spec="text"), "damaged"),
        (lambda record: record["job"].update(status=None), "damaged"),
        (lambda record: record.update(attempts={}), "damaged"),
        (lambda record: record["attempts"][0].update(gpus="x"), "damaged"),
        (lambda record: record["attempts"].append(record["attempts"][0]), "unstorable"),
        (lambda record: record["events"][0].pop("kind"), "damaged"),
        (lambda record: record["events"][0].update(detail=[]), "damaged"),
        (lambda record: record["events"].append(5), "damaged"),
        (lambda record: record.update(usage=[{"held_s": None}]), "damaged"),
        (lambda record: record.update(group={"id": 1}), "damaged"),
        (lambda record: record.update(original={"id": "x"}), "damaged"),
        (lambda record: record.update(environment={"A": 5}), "damaged"),
        (lambda record: record.update(environment=[]), "damaged"),
        (lambda record: record["events"][-1].update(id=2**63 - 1), "damaged"),
        (lambda record: record["events"][0].update(id=1), "damaged"),
        (lambda record: record["attempts"][0].update(job=7), "damaged"),
        (lambda record: record["attempts"][0].update(attempt=2**53), "damaged"),
        (lambda record: record["attempts"][0].update(reason="weird"), "damaged"),
        (lambda record: record["links"].append({"kind": "wandb", "url": 5}), "damaged"),
        (lambda record: record["job"].update(attempt=2**53), "damaged"),
        (lambda record: record["job"].update(attempt=-1), "damaged"),
        (lambda record: record["job"].update(attempt=True), "damaged"),
        (lambda record: record["job"].update(retried="x"), "damaged"),
        (lambda record: record["job"].update(ooms="y"), "damaged"),
        (lambda record: record["job"].update(array_index="x"), "damaged"),
        (lambda record: record["job"].update(group_id=None), "damaged"),
        (lambda record: record["group"].update(id=61), "damaged"),
        (lambda record: record["group"].update(count="y"), "damaged"),
        (lambda record: record["group"].update(count=0), "damaged"),
        (lambda record: record["group"].update(kind="weird"), "damaged"),
        (lambda record: record["group"].update(owner="bob"), "damaged"),
        (lambda record: record["group"].update(params="x"), "damaged"),
        (lambda record: record.update(original={"id": 2**60, "queue": "q"}), "damaged"),
        (lambda record: record["job"]["spec"].update(snapshot={"tree": "zz", "root": "/r"}), "damaged"),
        (lambda record: record["job"]["spec"].update(snapshot={**SNAPSHOT, "directory": "../../etc"}), "damaged"),
        (lambda record: record["job"]["spec"].update(snapshot={**SNAPSHOT, "links": ["../x"]}), "damaged"),
        (lambda record: record["job"]["spec"].update(snapshot={**SNAPSHOT, "root": "r"}), "damaged"),
    ],
)
def test_a_wrong_record_is_refused_before_it_is_stored(two: list[dict[str, Any]], change: Any, what: str) -> None:
    record, other = map(deepcopy, two)
    with closing(Trial()) as trial:
        record["job"]["spec"]["snapshot"] = SNAPSHOT
        assert trial.check(record, "q").id == 1
        change(record)
        with pytest.raises(WrongRecord) as refused:
            trial.check(record, "q")
        assert trial.check(other, "q").id == 2
    assert refused.value.what == what


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record["job"].update(submitted_at=1e300), "job.submitted_at is not a time"),
        (lambda record: record["job"].update(submitted_at=float("inf")), "job.submitted_at is not valid"),
        (lambda record: record["attempts"][0].update(ended_at=-5.0), "attempts.ended_at is not a time"),
        (lambda record: record["events"][0].update(at=1e18), "events.at is not a time"),
        (lambda record: record["job"].update(id=2**70), "job.id is not valid"),
        (lambda record: record["job"].update(id=0), "job.id is not valid"),
        (lambda record: record["job"].pop("owner"), "job.owner is missing"),
        (lambda record: record["job"].pop("spec"), "job.spec is missing"),
        (lambda record: record["job"].update(extra=1), "job.extra is not known"),
    ],
)
def test_a_wrong_record_is_refused_in_plain_words(two: list[dict[str, Any]], change: Any, words: str) -> None:
    record = deepcopy(two[0])
    change(record)
    with closing(Trial()) as trial, pytest.raises(WrongRecord) as refused:
        trial.check(record, "q")
    assert refused.value.detail == words
