"""The checkout of a job, made by its own process: complete before the command runs, whatever was killed before."""

import os
import threading
from pathlib import Path

import pytest

from tarmac.agent.files.checkouts import list_checkouts, tidy_checkouts
from tarmac.agent.records.checkout_marker import locked, read_marker, write_marker
from tarmac.agent.run.shim.checkout import NoCheckout, make_checkout
from tarmac.shared.frames.to_agent import PruneEntry, SnapshotEntry
from tarmac.shared.snapshots.objects import hash_of
from tarmac.store.snapshots import SnapshotStore
from tests.store.test_snapshots import a_tree, pack_of


@pytest.fixture
def entry(tmp_path: Path) -> SnapshotEntry:
    store = SnapshotStore(tmp_path / "snapshots.db")
    top, objects = a_tree(code=b"print()", other=b"text")
    store.add(pack_of(objects))
    store.close()
    return {
        "tree": top.hex(),
        "root": "/home/ann/project",
        "directory": "",
        "links": [],
        "objects": str(tmp_path / "snapshots.db"),
        "checkout": str(tmp_path / "checkouts" / "7"),
    }


def prune(entry: SnapshotEntry, attempt: int) -> None:
    old: PruneEntry = {**entry, "attempt": attempt}
    tidy_checkouts({"type": "tidy_checkouts", "ref": 1, "remove": [], "prune": [old]})


def names(directory: str) -> list[str]:
    return sorted(os.listdir(directory))


def test_it_is_made_once_and_kept_for_the_next_attempt(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 1)
    assert directory == f"{entry['checkout']}/project"
    assert names(directory) == ["code", "other"]
    for private in (directory, entry["checkout"], os.path.dirname(entry["checkout"])):
        assert os.stat(private).st_mode & 0o777 == 0o700
    Path(directory, "checkpoint").write_text("half")
    Path(directory, "other").unlink()
    assert make_checkout(entry, 2) == directory
    assert names(directory) == ["checkpoint", "code"]  # nobody but the job changes it


def test_the_working_directory_is_made_even_if_nothing_is_in_it(entry: SnapshotEntry) -> None:
    directory = make_checkout({**entry, "directory": "build/one"}, 1)
    assert directory.endswith("/7/project/build/one")
    assert names(directory) == []


def test_one_that_was_interrupted_is_completed(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 1)
    marker = read_marker(os.fsencode(entry["checkout"]))
    assert marker is not None
    write_marker(os.fsencode(entry["checkout"]), {**marker, "is_full": False})
    Path(directory, "code").unlink()
    Path(entry["checkout"], "part").write_text("half a fi")
    make_checkout(entry, 1)
    assert Path(directory, "code").read_text() == "print()"
    assert names(directory) == ["code", "other"]


def test_after_a_reboot_lost_contents_are_written_again(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 1)
    marker = read_marker(os.fsencode(entry["checkout"]))
    assert marker is not None
    write_marker(os.fsencode(entry["checkout"]), {**marker, "boot_id": "another boot"})
    Path(directory, "code").write_text("")
    os.utime(Path(directory, "code"), ns=(marker["stamp_ns"], marker["stamp_ns"]))
    Path(directory, "other").write_text("by the job")
    make_checkout(entry, 2)
    assert Path(directory, "code").read_text() == "print()"
    assert Path(directory, "other").read_text() == "by the job"


def test_a_snapshot_that_cannot_be_read_says_so(entry: SnapshotEntry, tmp_path: Path) -> None:
    with pytest.raises(NoCheckout, match=r"nowhere\.db does not exist"):
        make_checkout({**entry, "objects": str(tmp_path / "nowhere.db")}, 1)
    with pytest.raises(NoCheckout, match="is missing"):
        make_checkout({**entry, "tree": "ab" * 32}, 1)
    Path(tmp_path, "file").write_text("")
    with pytest.raises(NoCheckout, match="File exists"):
        make_checkout({**entry, "checkout": str(tmp_path / "file" / "7")}, 1)


def test_a_damaged_object_is_not_checked_out(entry: SnapshotEntry, tmp_path: Path) -> None:
    store = SnapshotStore(tmp_path / "snapshots.db")
    with store._open() as connection:
        connection.execute("UPDATE objects SET data = x'00' WHERE hash = ?", (hash_of(b"text"),))
    store.close()
    with pytest.raises(NoCheckout, match=f"object {hash_of(b'text').hex()} is damaged"):
        make_checkout(entry, 1)
    assert not Path(entry["checkout"], "project", "other").exists()


def test_pruning_leaves_what_the_job_wrote_and_a_retry_finds_all(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 3)
    Path(directory, "result").write_text("42")
    prune(entry, 3)
    assert names(directory) == ["result"]
    listed = list_checkouts({"type": "list_checkouts", "ref": 1, "directory": os.path.dirname(entry["checkout"])})
    assert [(one["job"], one["is_pruned"]) for one in listed["checkouts"]] == [(7, True)]
    make_checkout(entry, 4)
    assert names(directory) == ["code", "other", "result"]


def test_an_unchanged_checkout_goes_completely(entry: SnapshotEntry) -> None:
    make_checkout(entry, 1)
    prune(entry, 1)
    assert not os.path.lexists(entry["checkout"])


def test_a_checkout_that_a_later_attempt_uses_is_left_alone(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 1)
    make_checkout(entry, 2)
    prune(entry, 1)
    assert names(directory) == ["code", "other"]


def test_the_checkout_of_a_removed_job_goes_with_all_that_is_in_it(entry: SnapshotEntry) -> None:
    directory = make_checkout(entry, 1)
    Path(directory, "result").write_text("42")
    tidy_checkouts({"type": "tidy_checkouts", "ref": 1, "remove": [entry["checkout"]], "prune": []})
    assert not os.path.lexists(entry["checkout"])
    listed = list_checkouts({"type": "list_checkouts", "ref": 1, "directory": os.path.dirname(entry["checkout"])})
    assert listed["checkouts"] == []


def test_a_retry_during_the_removal_makes_the_checkout_anew(entry: SnapshotEntry) -> None:
    """Its process waits for the lock of a directory that is gone once the lock is free."""
    make_checkout(entry, 1)
    path = Path(entry["checkout"])
    with locked(os.fsencode(path)):
        retry = threading.Thread(target=make_checkout, args=(entry, 2))
        retry.start()
        inode = f":{path.stat().st_ino} "
        while not any("->" in line and inode in line for line in Path("/proc/locks").read_text().splitlines()):
            assert retry.is_alive()
        path.rename(path.with_name("removed"))
    retry.join()
    assert names(f"{path}/project") == ["code", "other"]
