"""A restore attaches the newer database by a URI, also where SQLite was compiled without them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.store.kept import opened

CONFIG_URI = 17  # of sqlite3.h
ATTACH = f"""
import ctypes, sys
from contextlib import closing
from pathlib import Path
import _sqlite3
loaded = [line.split()[-1] for line in open("/proc/self/maps") if "libsqlite3" in line]
sqlite = ctypes.CDLL(next(iter(loaded), _sqlite3.__file__))
sqlite.sqlite3_shutdown()
assert sqlite.sqlite3_config({CONFIG_URI}, 0) == 0
from tarmac.store.database.database import connect_writer
from tarmac.store.environments.secret_files import SecretFiles
from tarmac.store.history.restored import attach
folder = Path(sys.argv[1])
with closing(connect_writer(folder / "a.db", SecretFiles(folder / "a.db"))) as connection:
    attach(connection, folder / "odd?name%.db")
    print(connection.execute("SELECT count(*) FROM newer.jobs").fetchone()[0])
"""


def test_a_newer_database_is_attached_without_uris_by_default(tmp_path: Path) -> None:
    for name in ("a.db", "odd?name%.db"):
        with opened(tmp_path / name):
            pass
    done = subprocess.run([sys.executable, "-c", ATTACH, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
