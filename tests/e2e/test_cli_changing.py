"""Jobs that are changed after their submit, as a user does it: in an editor, as copies, with labels and in batches."""

import json
from pathlib import Path

from tests.home import BIN, Home
from tests.terminal import Terminal


def an_editor(tmp_path: Path, *lines: str) -> str:
    """An editor that runs one of these shell lines, with the file as $1, each time it is opened."""
    script, editor = tmp_path / "lines", tmp_path / "my editor"
    script.write_text("\n".join(lines) + "\n")
    editor.write_text(f'#!/bin/sh\nline=$(head -n 1 "{script}")\nsed -i 1d "{script}"\nsh -c "$line" sh "$1"\n')
    editor.chmod(0o755)
    return f"'{editor}'"


def shown(home: Home, job: int) -> dict[str, object]:
    found: dict[str, object] = json.loads(home.tarmac("show", str(job), "--json").stdout)[0]
    return found


def in_editor(home: Home, tmp_path: Path, words: list[str], *lines: str) -> str:
    with Terminal(home, *words, EDITOR=an_editor(tmp_path, *lines), VISUAL="") as terminal:
        assert terminal.process.wait(60) == 0
        terminal.reader.join(10)
        return terminal.written.decode()


def test_a_mistake_in_the_editor_is_corrected_there(shared_home: Home, tmp_path: Path) -> None:
    job = shared_home.add("--hold", "-n", "before", "true")
    seen = tmp_path / "seen"
    lines = ["sed -i s/^gpus.*/gpus=99/ $1", f"cp $1 {seen}; sed -i -e s/gpus=99/gpus=2/ -e s/before/after/ $1"]
    said = in_editor(shared_home, tmp_path, ["edit", str(job)], *lines)
    assert f"changed job {job}" in said
    assert seen.read_text().startswith("#! requested 99 GPUs; this machine has 2\n")
    assert (shown(shared_home, job)["gpus_asked"], shown(shared_home, job)["name"]) == (2, "after")


def test_several_jobs_in_one_file_and_one_that_started_meanwhile(shared_home: Home, tmp_path: Path) -> None:
    held = [shared_home.add("--hold", "-g", "0", "--time", "1h", "true") for _ in range(2)]
    released = f"tarmac release {held[0]} && tarmac wait {held[0]} > /dev/null"

    shared_home.environment["PATH"] = f"{BIN}:{shared_home.environment['PATH']}"
    line = f"sed -i s/1h/2h/ $1; {released}"
    said = in_editor(shared_home, tmp_path, ["edit", *map(str, held)], line)
    assert f"changed job {held[1]}" in said
    assert f"job {held[0]} is not waiting and cannot be changed" in said
    assert [shown(shared_home, job)["time_limit_s"] for job in held] == [3600, 7200]


def test_an_unchanged_file_and_no_terminal(shared_home: Home, tmp_path: Path) -> None:
    job = shared_home.add("--hold", "true")
    assert "nothing was changed" in in_editor(shared_home, tmp_path, ["edit", str(job)], "true")
    done = shared_home.tarmac("edit", str(job))
    assert (done.returncode, "edit: no options given" in done.stderr) == (2, True)


def test_a_copy_is_edited_before_it_is_queued(shared_home: Home, tmp_path: Path) -> None:
    job = shared_home.add("--hold", "-g", "0", "-n", "original", "true")
    said = in_editor(shared_home, tmp_path, ["clone", str(job), "--edit", "--draft"], "sed -i s/original/copy/ $1")
    copy = shown(shared_home, int(said.split()[0]))
    assert (copy["name"], copy["state"], copy["clone_of"]) == ("copy", "draft", job)
    assert shown(shared_home, job)["name"] == "original"


def test_labels_of_an_ended_job_are_found(shared_home: Home) -> None:
    job = shared_home.add("-g", "0", "true")
    shared_home.tarmac("wait", str(job))
    assert shared_home.tarmac("rename", str(job), "quetzal").returncode == 0
    assert shared_home.tarmac("tag", str(job), "+blue", "+green", "--add", "red").returncode == 0
    assert shared_home.tarmac("tag", str(job), "--remove", "green").returncode == 0
    assert shared_home.tarmac("note", str(job), "diverges at xylophone").returncode == 0
    assert shared_home.tarmac("note", str(job)).stdout == "diverges at xylophone\n"
    found = shown(shared_home, job)
    assert (found["name"], found["tags"], found["state"]) == ("quetzal", ["red", "blue"], "succeeded")
    assert "quetzal" in shared_home.tarmac("history", "--search", "xylophone").stdout
    assert "diverges at xylophone" in shared_home.tarmac("show", str(job)).stdout


def test_a_batch_is_one_group_and_its_jobs_run(shared_home: Home, tmp_path: Path) -> None:
    (tmp_path / "jobs.txt").write_text("echo 'a  b'\necho c > /dev/null\n")
    done = shared_home.tarmac("add", "-g", "0", "--batch", "jobs.txt", cwd=tmp_path)
    assert (done.returncode, "jobs.txt:2:8: > needs a shell" in done.stderr) == (2, True)
    (tmp_path / "jobs.txt").write_text("echo 'a  b'\necho c\n")
    first, _, last = (
        shared_home.tarmac("add", "-g", "0", "--batch", "jobs.txt", cwd=tmp_path).stdout.strip().partition("-")
    )
    assert int(last) == int(first) + 1
    shared_home.tarmac("wait", f"{first}-{last}")
    assert shared_home.tarmac("log", first).stdout == "a  b\n"
    assert [shown(shared_home, int(job))["group"] for job in (first, last)] == [int(first)] * 2
