"""History, clean, export and import as a user types them, in two queues."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.home import Home, homes, until
from tests.terminal import Terminal

RUN = "https://wandb.ai/ann/digits/runs/a1b2c3d4"


def listed(home: Home, *words: str) -> list[int]:
    done = home.tarmac("history", "--json", *words)
    assert done.returncode == 0, done.stderr
    return [job["id"] for job in json.loads(done.stdout)]


def ended(home: Home, *words: str) -> int:
    number = home.add("-g", "0", *words)
    home.tarmac("wait", str(number))
    return number


def test_a_history_moves_to_another_queue(shared_home: Home, tmp_path: Path) -> None:
    home, file = shared_home, tmp_path / "jobs.jsonl"
    first = ended(home, "--name", "moved-a", "--tag", "move", "-c", "echo unterwegs; exit 4")
    second = ended(home, "--tag", "move", "true")
    done = home.tarmac("export", str(file), "--tag", "move", "--with-logs", "--with-environment")
    assert (done.returncode, done.stderr) == (0, "exported 2 jobs\n")
    assert file.stat().st_mode & 0o777 == 0o600
    assert home.tarmac("export", str(file)).returncode == 2
    for other in homes(tmp_path / "other"):
        mine = ended(other, "echo", "mine")
        for added in (2, 0):
            done = other.tarmac("import", str(file), "--json")
            assert json.loads(done.stdout) == {"added": added, "known": 2 - added}
        checked = other.tarmac("import", str(file), "--dry-run").stderr
        assert checked == "the file is right: 2 jobs; nothing was imported\n"
        assert other.tarmac("import", str(file)).stderr == "imported 0 jobs; 2 were here already\n"
        found = {job["original_id"]: job for job in json.loads(other.tarmac("show", "all", "--json").stdout)}
        assert found.keys() == {None, first, second}
        assert (found[first]["name"], found[first]["exit_code"], found[first]["tags"]) == ("moved-a", 4, ["move"])
        assert other.tarmac("log", str(found[first]["id"])).stdout == "unterwegs\n"
        assert other.tarmac("log", str(mine)).stdout == "mine\n"
        assert listed(other, "-s", "unterwegs") == [found[first]["id"]]
        assert f"job {first}" in other.tarmac("show", str(found[first]["id"])).stdout


def test_a_file_that_is_not_ours_is_named(shared_home: Home, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for content in ("", "hello\n", "[1, 2]\n", '{"job": {}}\n', '{"tarmac_export": 1, "schema": 8}\n{bad\n'):
        file.write_text(content)
        done = shared_home.tarmac("import", str(file))
        assert done.returncode == 2
        assert str(file) in done.stderr
    for wrong in (tmp_path / "missing", tmp_path):
        done = shared_home.tarmac("import", str(wrong))
        assert (done.returncode, f"cannot read {wrong}: " in done.stderr) == (2, True)
        assert "give a file" in done.stderr
    place = tmp_path / "missing" / "x.jsonl"
    done = shared_home.tarmac("export", str(place))
    assert (done.returncode, f"cannot write {place}: " in done.stderr, ".part" in done.stderr) == (2, True, False)
    file.write_text('{"tarmac_export": 1, "schema": 999}\n')
    assert "newer Tarmac" in shared_home.tarmac("import", str(file)).stderr


def test_filters_and_formats(shared_home: Home) -> None:
    home = shared_home
    failed = ended(home, "--name", "fmt", "--project", "fmt", "-c", "exit 3")
    fine = ended(home, "--project", "fmt", "echo", "a, b")
    assert listed(home, "--project", "fmt") == [fine, failed]
    assert listed(home, "--project", "fmt", "--failed") == [failed]
    assert listed(home, "--project", "fmt", "-n", "1") == [fine]
    assert listed(home, "--project", "fmt", "--since", "1h", "--search", "A,") == [fine]
    assert listed(home, "--project", "fmt", "--until", "1h") == []
    rows = list(csv.DictReader(io.StringIO(home.tarmac("history", "--project", "fmt", "--csv").stdout)))
    assert [(row["id"], row["state"], row["command"]) for row in rows] == [
        (str(fine), "succeeded", "echo 'a, b'"),
        (str(failed), "failed", "exit 3"),
    ]
    assert home.tarmac("history", "--failed", "--state", "failed").returncode == 2
    assert home.tarmac("history", "--state", "queued").returncode == 2
    assert home.tarmac("history", "--tag", "never").stderr == "No ended job matches.\n"
    nothing = home.tarmac("history", "-n", "0")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "")


@pytest.mark.parametrize(("answer", "is_removed"), [("n", False), ("y", True)])
def test_clean_asks_on_a_terminal_and_needs_yes_elsewhere(shared_home: Home, answer: str, is_removed: bool) -> None:
    home = shared_home
    number = ended(home, "-c", "exit 9")
    refused = home.tarmac("clean", "failed")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    with Terminal(home, "clean", "failed") as terminal:
        assert terminal.sees("Remove them? [y/N]")
        terminal.type(f"{answer}\n".encode())
        assert terminal.ends() == (0 if is_removed else 1)
    assert (number in listed(home, "--failed")) is not is_removed


def links(home: Home, job: int) -> list[str]:
    (shown,) = json.loads(home.tarmac("show", str(job), "--json").stdout)
    return [link["url"] for link in shown["links"]]


def test_a_restore_goes_back_and_runs_nothing_twice(home: Home, tmp_path: Path) -> None:
    marks, backup = tmp_path / "marks", tmp_path / "backup.tar"
    running = home.add("-c", f"echo wandb: View run at {RUN}; echo running >> {marks}; sleep 300")
    waiting = home.add("-g", "2", "-c", f"echo waiting >> {marks}")
    assert until(lambda: marks.exists() and marks.read_text() == "running\n")
    assert until(lambda: links(home, running) == [RUN], 60)
    done = home.tarmac("backup", str(backup), "--json")
    assert json.loads(done.stdout)["live"] == 2, done.stderr
    assert backup.stat().st_mode & 0o777 == 0o600
    assert f"{backup} contains secrets" in done.stderr
    assert home.tarmac("backup", str(backup)).returncode == 2
    home.tarmac("kill", str(running), "--grace", "0")
    assert home.tarmac("wait", str(waiting)).returncode == 0
    later = home.add("-c", f"echo later >> {marks}; sleep 300")
    assert until(lambda: "later" in marks.read_text())
    refused = home.tarmac("restore", str(backup))
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    done = home.tarmac("restore", str(backup), "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert Path(json.loads(done.stdout)["aside"]).is_dir()
    states = {job["id"]: job["state"] for job in json.loads(home.tarmac("ls", "--json").stdout)}
    assert states == {running: "cancelled", waiting: "succeeded", later: "running"}
    assert links(home, running) == [RUN]
    assert home.add("-g", "0", "true") > later
    assert sorted(marks.read_text().split()) == ["later", "running", "waiting"]
    assert "not a backup" in home.tarmac("restore", str(marks), "--yes").stderr
    assert home.tarmac("restore", str(tmp_path / "missing"), "--yes").returncode != 0
