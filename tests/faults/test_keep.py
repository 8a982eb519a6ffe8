"""Crashes and full disks while jobs are removed, imported or saved lose nothing, and the next try completes it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.home import BIN, Home, until


@pytest.mark.parametrize("point", ["keep:in-dump@2", "keep:after-dump", "keep:after-clean"])
def test_a_crash_while_jobs_are_removed(home: Home, point: str) -> None:
    numbers = [home.add("-g", "0", "echo", str(nth)) for nth in range(3)]
    assert home.tarmac("wait", *map(str, numbers)).returncode == 0
    dump = home.path / "dump.jsonl"
    assert home.tarmac("set", "history_dump", str(dump)).returncode == 0
    home.tarmac("stop")
    cleaning = home.start("clean", "--keep", "0", "--yes", env={**home.environment, "TARMAC_CRASH_AT": point})
    log = home.path / "controller.log"
    assert until(lambda: f"crash point {point.partition('@')[0]}" in log.read_text())
    cleaning.kill()
    cleaning.wait()
    until(lambda: home.tarmac("stop").returncode == 0)
    left = json.loads(home.tarmac("ls", "--json").stdout)
    dumped = [json.loads(line) for line in dump.read_bytes().split(b"\n")[1:-1]] if dump.exists() else []
    assert {job["id"] for job in left} | {record["job"]["id"] for record in dumped} == set(numbers)
    assert home.tarmac("clean", "--keep", "0", "--yes").returncode == 0
    assert json.loads(home.tarmac("ls", "--json").stdout) == []
    assert json.loads(home.tarmac("history", "--json").stdout) == []
    assert list((home.path / "logs").iterdir()) == []
    header, *lines = map(json.loads, dump.read_text().splitlines())
    assert "tarmac_export" in header
    assert {record["job"]["id"] for record in lines} == set(numbers)


def test_a_crash_after_an_import_adds_nothing_twice_and_no_log_is_lost(home: Home, tmp_path: Path) -> None:
    number = home.add("-g", "0", "echo", "kept")
    assert home.tarmac("wait", str(number)).returncode == 0
    file = tmp_path / "jobs.jsonl"
    assert home.tarmac("export", str(file), "--with-logs").returncode == 0
    assert home.tarmac("clean", "--keep", "0", "--yes").returncode == 0
    home.tarmac("stop")
    crashing = {**home.environment, "TARMAC_CRASH_AT": "keep:after-import"}
    importing = home.start("import", str(file), env=crashing)
    log = home.path / "controller.log"
    assert until(lambda: "crash point keep:after-import" in log.read_text() or importing.poll() is not None)
    importing.kill()
    importing.wait()
    until(lambda: home.tarmac("stop").returncode == 0)
    done = home.tarmac("import", str(file), "--json")
    assert sum(json.loads(done.stdout).values()) == 1, done.stderr
    assert [job["id"] for job in json.loads(home.tarmac("history", "--json").stdout)] == [number]
    assert home.tarmac("log", str(number)).stdout == "kept\n"


def test_a_backup_that_is_killed_or_finds_no_space_leaves_nothing(home: Home, tmp_path: Path) -> None:
    number = home.add("-g", "0", "true")
    assert home.tarmac("wait", str(number)).returncode == 0
    place = tmp_path / "backups"
    place.mkdir()
    killed = home.tarmac("backup", str(place / "a.tar"), env={"TARMAC_CRASH_AT": "keep:in-backup"})
    assert killed.returncode == 5
    assert list(place.iterdir()) == []
    limited = f"ulimit -f 8; exec {BIN}/tarmac"
    for words in (f"backup {place}/b.tar", f"export {place}/c.jsonl"):
        full = subprocess.run(
            ["bash", "-c", f"trap '' XFSZ; {limited} {words}"], env=home.environment, capture_output=True, check=False
        )
        if words.startswith("backup"):
            assert full.returncode != 0
            assert b"Traceback" not in full.stderr
    assert [path.name for path in place.iterdir()] in ([], ["c.jsonl"])
    assert home.tarmac("backup", str(place / "a.tar")).returncode == 0
