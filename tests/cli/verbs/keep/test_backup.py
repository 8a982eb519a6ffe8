"""`backup` and `restore` name the file that was given, and leave nothing when they are interrupted."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.verbs.keep.restore import _report
from tarmac.store.database.database import connect_writer
from tarmac.store.environments.secret_files import SecretFiles


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("restore missing", "restore: missing does not exist"),
        ("restore .", "restore: . is not a file"),
        ("backup -", "backup: it cannot be written to standard output"),
        ("backup missing/x.tar", "backup: cannot write missing/x.tar: No such file or directory"),
    ],
)
def test_a_wrong_file_is_named_as_it_was_given(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path / "home"))
    assert run_line(words.split()) == 2
    first, hint = capfd.readouterr().err.splitlines()
    assert first == f"tarmac: {said}"
    assert hint.strip()


def test_an_interrupted_backup_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal."""
    home, place = tmp_path / "home", tmp_path / "place"
    for folder in (home, place):
        folder.mkdir(mode=0o700)
    sqlite3.connect(home / "tarmac.db").close()
    os.mkfifo(home / "tarmac.db-wal")  # whoever opens it waits
    command = [sys.executable, "-c", "from tarmac.cli.main import main; main()", "backup", "b.tar"]
    process = subprocess.Popen(
        command, cwd=place, env={**os.environ, "TARMAC_HOME": str(home)}, stderr=subprocess.PIPE, start_new_session=True
    )
    until = time.monotonic() + 30
    while not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text() and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode() == "tarmac: interrupted\n  nothing was saved\n"
    assert list(place.iterdir()) == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "tiny"
    place.mkdir(0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", place]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_that_of_the_new_file(
    full_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    home.mkdir(0o700)
    connect_writer(home / "tarmac.db", SecretFiles(home / "secrets")).close()
    monkeypatch.setenv("TARMAC_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    assert run_line(["backup", "tiny/b.tar"]) == 2
    first, hint = capfd.readouterr().err.splitlines()
    assert first == "tarmac: backup: cannot write tiny/b.tar: No space left on device"
    assert hint == "  free some space on its disk, or give a path on another disk"
    assert list(full_disk.iterdir()) == []


def test_the_report_counts_one_job_and_names_those_left_behind() -> None:
    done = {"aside": None, "held": 1, "taken_over": 1, "left": [8, 9, 12], "config_replaced": False}
    assert _report(done)[1:] == [
        "1 job ran since the backup, and is as it was before",
        "3 jobs submitted since then are only in the old queue: 8-9,12",
        "1 waiting job may have run since the backup, and is held: `tarmac release ID…` queues it",
    ]
    many = _report({**done, "left": list(range(1, 1000, 2))})[2]
    assert many.endswith(",…")
    assert len(many) < 300
