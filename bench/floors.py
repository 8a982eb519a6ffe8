"""The limits of the machine: P starts Python, S starts a program, D is the minimum cost of one durable job."""

import os
import sqlite3
import sys
from dataclasses import dataclass

from bench.clock import median, samples, spawn


@dataclass(frozen=True, kw_only=True)
class Floors:
    python_s: float  # P: python -c pass, the interpreter that runs Tarmac
    spawn_s: float  # S: posix_spawn + wait of the job's program
    durable_s: float  # D: one SQLite commit (WAL, FULL) + S + two fsynced records


def measure(folder: str, program: str) -> Floors:
    spawn_s = median(samples(lambda: spawn([program]), 200))
    return Floors(
        python_s=median(samples(lambda: spawn([sys.executable, "-c", "pass"]), 30)),
        spawn_s=spawn_s,
        durable_s=commit_s(folder) + spawn_s + 2 * record_s(folder),
    )


def least(one: Floors, other: Floors) -> Floors:
    """The smaller of two measurements: a floor is the best the machine can do."""
    return Floors(
        python_s=min(one.python_s, other.python_s),
        spawn_s=min(one.spawn_s, other.spawn_s),
        durable_s=min(one.durable_s, other.durable_s),
    )


def commit_s(folder: str) -> float:
    path = os.path.join(folder, "floor.db")
    with sqlite3.connect(path, isolation_level=None) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute("create table job (id integer primary key, command text)")
        taken = median(samples(lambda: database.execute("insert into job (command) values ('train')"), 200))
    database.close()
    os.unlink(path)
    return taken


def record_s(folder: str) -> float:
    """A record as a shim writes it: a temporary file, fsync, rename, fsync of the directory."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)

    def write() -> None:
        file = os.open("record.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=handle)
        os.write(file, b'{"exit_code": 0}')
        os.fsync(file)
        os.close(file)
        os.rename("record.new", "record", src_dir_fd=handle, dst_dir_fd=handle)
        os.fsync(handle)

    taken = median(samples(write, 100))
    os.unlink("record", dir_fd=handle)
    os.close(handle)
    return taken
