"""Minute samples of GPUs: stored, read, and deleted when old."""

from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.store.batch import Batch, Sample
from tarmac.store.batch_rows import write
from tarmac.store.database.database import connect_reader, connect_writer
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.reader import Reader


def a_minute(at: int) -> Sample:
    return Sample(at=at, node="box", uuid="g0", memory_used_bytes=1, utilization=50.0, power_w=None)


def test_old_samples_are_deleted_and_only_those(tmp_path: Path) -> None:
    path = tmp_path / "tarmac.db"
    writer = connect_writer(path, SecretFiles(path))
    write(writer, Batch(changes=Changes(), samples=[a_minute(at) for at in (60, 120, 180)]))
    write(writer, Batch(changes=Changes(), samples=[a_minute(240)], samples_from=120))
    reader = Reader(connect_reader(path), SecretFiles(path))
    assert [row[0] for row in reader.samples("box", "g0", 0)] == [120, 180, 240]
    assert Batch(changes=Changes(), samples_from=1), "nothing else need be written with it"
    reader.close()
    writer.close()
