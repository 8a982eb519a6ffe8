"""Frozen code, as a user meets it."""

import json
import os
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tarmac.shared.snapshots.objects import hash_of
from tests.home import Home, until


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git work tree with one commit."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text("print('old')\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def git(root: Path, *words: str) -> str:
    names = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *names, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def output(home: Home, *words: str, cwd: Path) -> str:
    done = home.tarmac("run", "-g", "0", *words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def show(home: Home, job: str | int = "last") -> dict[str, Any]:
    (found,) = json.loads(home.tarmac("show", str(job), "--json").stdout)
    return dict(found)


def test_a_job_runs_the_code_as_it_was_submitted(shared_home: Home, project: Path) -> None:
    added = shared_home.tarmac("add", "-g", "0", "--hold", "--snapshot", "python3", "train.py", cwd=project)
    assert added.returncode == 0, added.stderr
    job = added.stdout.strip()
    (project / "train.py").write_text("print('new')\n")
    shared_home.tarmac("release", job)
    shared_home.tarmac("wait", job)
    assert shared_home.tarmac("log", job).stdout == "old\n"
    assert output(shared_home, "--snapshot", "python3", "train.py", cwd=project) == "new\n"


def test_the_job_runs_in_the_same_sub_directory_of_its_checkout(shared_home: Home, project: Path) -> None:
    below = project / "experiments" / "first"
    below.mkdir(parents=True)
    (below / "config").write_text("x")
    printed = output(
        shared_home, "--snapshot", "-c", "pwd; echo $PWD; ls; ls ../..; echo $TARMAC_SUBMIT_DIR", cwd=below
    )
    checkout = show(shared_home)["snapshot"]["checkout"]
    assert checkout.endswith("/project/experiments/first")
    assert printed.splitlines() == [checkout, checkout, "config", "experiments", "train.py", str(below)]


def test_what_a_job_writes_stays_in_its_checkout(shared_home: Home, project: Path) -> None:
    command = "cat train.py; echo mine > train.py; echo result > out.txt"
    for _ in range(2):
        assert output(shared_home, "--snapshot", "-c", command, cwd=project) == "print('old')\n"
    assert (project / "train.py").read_text() == "print('old')\n"
    assert not (project / "out.txt").exists()


def test_all_attempts_of_a_job_share_its_checkout(shared_home: Home, project: Path) -> None:
    command = "cat checkpoint 2>/dev/null || { echo resumed > checkpoint; exit 3; }"
    assert output(shared_home, "--snapshot", "--retry", "1", "-c", command, cwd=project) == "resumed\n"
    assert show(shared_home)["attempt"] == 2


def test_an_array_has_one_snapshot_and_a_checkout_for_each_job(shared_home: Home, project: Path) -> None:
    added = shared_home.tarmac(
        "add", "-g", "0", "--array", "3", "--snapshot", "-c", "pwd; touch $TARMAC_ARRAY_INDEX; ls | wc -l", cwd=project
    )
    first, _, last = added.stdout.strip().partition("-")
    jobs = range(int(first), int(last) + 1)
    shared_home.tarmac("wait", added.stdout.strip())
    assert len({shared_home.tarmac("log", str(job)).stdout for job in jobs}) == 3
    assert {shared_home.tarmac("log", str(job)).stdout.split()[1] for job in jobs} == {"2"}
    assert len({show(shared_home, job)["snapshot"]["tree"] for job in jobs}) == 1


def test_linked_directories_stay_where_they_are(shared_home: Home, project: Path) -> None:
    for name in ("data", "checkpoints"):
        (project / name).mkdir()
    (project / "data" / "big").write_text("data")
    command = "cat data/big; echo saved > checkpoints/last"
    assert output(shared_home, "--snapshot", "--link", "data,checkpoints", "-c", command, cwd=project) == "data"
    assert (project / "checkpoints" / "last").read_text() == "saved\n"
    assert show(shared_home)["snapshot"]["links"] == ["checkpoints", "data"]
    missing = shared_home.tarmac("add", "--snapshot", "--link", "dat", "true", cwd=project)
    assert missing.returncode == 2
    assert "did you mean data?" in missing.stderr


def test_an_unchanged_tree_takes_no_space(shared_home: Home, project: Path) -> None:
    (project / "random").write_bytes(os.urandom(100_000))
    output(shared_home, "--snapshot", "true", cwd=project)
    store = shared_home.path / "snapshots.db"
    size = store.stat().st_size + (shared_home.path / "snapshots.db-wal").stat().st_size
    for _ in range(3):
        output(shared_home, "--snapshot", "true", cwd=project)
    assert store.stat().st_size + (shared_home.path / "snapshots.db-wal").stat().st_size == size


def test_the_setting_makes_it_the_default(home: Home, project: Path) -> None:
    home.tarmac("set", "snapshot", "on")
    output(home, "true", cwd=project)
    assert show(home)["snapshot"]["root"] == str(project)
    output(home, "--no-snapshot", "true", cwd=project)
    assert show(home)["snapshot"] is None


def test_too_large_a_tree_is_refused_with_its_largest_directories(shared_home: Home, project: Path) -> None:
    shared_home.tarmac("set", "snapshot_limit", "1M")
    try:
        (project / "runs" / "one").mkdir(parents=True)
        (project / "runs" / "one" / "model").write_bytes(bytes(3 << 20))
        refused = shared_home.tarmac("add", "--snapshot", "true", cwd=project)
        assert refused.returncode == 2
        assert "runs/one/ 3" in refused.stderr
        assert "the limit is 1" in refused.stderr
        assert "--link runs/one" in refused.stderr
        assert output(shared_home, "--snapshot", "--link", "runs", "true", cwd=project) == ""
    finally:
        shared_home.tarmac("set", "snapshot_limit", "--reset")


def test_show_tells_commit_branch_and_whether_it_is_dirty(shared_home: Home, project: Path) -> None:
    commit = git(project, "rev-parse", "HEAD").strip()
    output(shared_home, "--snapshot", "true", cwd=project)
    assert f"commit {commit[:12]}, branch main, clean" in shared_home.tarmac("show", "last").stdout
    (project / "train.py").write_text("print('dirty')\n")
    (project / "notes").write_text("untracked")
    output(shared_home, "--snapshot", "true", cwd=project)
    shown = shared_home.tarmac("show", "last").stdout
    assert f"commit {commit[:12]}, branch main, dirty: 2 changed files" in shown
    snapshot = show(shared_home)["snapshot"]
    assert (snapshot["commit"], snapshot["branch"], snapshot["changed"]) == (commit, "main", 2)
    assert snapshot["checkout"] in shown


def test_diff_compares_with_now_and_with_another_job(shared_home: Home, project: Path) -> None:
    (project / "gone").write_text("x\n")
    (project / "bytes").write_bytes(b"\0\1")
    (project / "odd\tname").write_text("a")
    output(shared_home, "--snapshot", "true", cwd=project)
    first = str(show(shared_home)["id"])
    same = shared_home.tarmac("diff", first, cwd=project)
    assert (same.returncode, same.stdout) == (0, "")
    (project / "train.py").write_text("print('old')\nprint('more')")
    (project / "gone").unlink()
    (project / "bytes").write_bytes(b"\0\2")
    (project / "tool").write_text("#!/bin/sh\n")
    (project / "odd\tname").chmod(0o755)
    changed = shared_home.tarmac("diff", first, cwd="/")
    assert changed.returncode == 1
    assert "--- a/train.py\n+++ b/train.py\n@@ -1 +1,2 @@\n print('old')\n+print('more')\n" in changed.stdout
    assert "\\ No newline at end of file" in changed.stdout
    assert "Binary files a/bytes and b/bytes differ" in changed.stdout
    assert "deleted file mode 100644\n--- a/gone\n+++ /dev/null" in changed.stdout
    assert "new file mode 100644\n--- /dev/null\n+++ b/tool" in changed.stdout
    assert "old file mode 100644\nnew file mode 100755" in changed.stdout
    output(shared_home, "--snapshot", "true", cwd=project)
    second = str(show(shared_home)["id"])
    between = shared_home.tarmac("diff", first, second)
    assert (between.returncode, between.stdout) == (1, changed.stdout)
    names = shared_home.tarmac("diff", "--names", first, second).stdout
    assert names.splitlines()[:2] == ["M bytes", "D gone"]
    listed = json.loads(shared_home.tarmac("diff", "--json", second, first).stdout)
    assert {"path": "tool", "change": "removed"} in listed
    assert shared_home.tarmac("diff", second, second).returncode == 0


def test_checkout_writes_the_code_of_a_job(shared_home: Home, project: Path, tmp_path: Path) -> None:
    (project / "run.sh").write_text("#!/bin/sh\n")
    (project / "run.sh").chmod(0o755)
    (project / "hollow" / "inside").mkdir(parents=True)
    (project / "link").symlink_to("train.py")
    (project / "large").write_bytes(os.urandom(3_000_000))
    output(shared_home, "--snapshot", "true", cwd=project)
    (project / "train.py").write_text("print('new')\n")
    done = shared_home.tarmac("checkout", "last", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "train.py").read_text() == "print('old')\n"
    assert os.access(tmp_path / "out" / "run.sh", os.X_OK)
    assert os.readlink(tmp_path / "out" / "link") == "train.py"
    assert (tmp_path / "out" / "hollow" / "inside").is_dir()
    assert (tmp_path / "out" / "large").read_bytes() == (project / "large").read_bytes()
    again = shared_home.tarmac("checkout", "last", str(tmp_path / "out"))
    assert again.returncode == 2
    assert "is not empty" in again.stderr


def test_a_job_without_a_snapshot_has_nothing_to_compare(shared_home: Home, project: Path, tmp_path: Path) -> None:
    output(shared_home, "true", cwd=project)
    for words in (["diff", "last"], ["checkout", "last", str(tmp_path / "out")]):
        refused = shared_home.tarmac(*words)
        assert refused.returncode == 2
        assert "has no snapshot" in refused.stderr
    assert "checkout" not in shared_home.tarmac("show", "last").stdout


def test_an_absolute_path_into_the_tree_is_pointed_out(shared_home: Home, project: Path) -> None:
    added = shared_home.tarmac("add", "-g", "0", "--snapshot", "cat", str(project / "train.py"), cwd=project)
    assert f"{project / 'train.py'} is the original file" in added.stderr


def test_the_checkout_goes_with_its_job_and_unchanged_files_go_by_age(home: Home, project: Path) -> None:
    home.tarmac("set", "checkout_keep_s", "0")
    output(home, "--snapshot", "-c", "echo 42 > result", cwd=project)
    output(home, "--snapshot", "true", cwd=project)
    output(home, "--snapshot", "true", cwd=project)
    kept, _, removed = sorted((home.path / "checkouts").iterdir())
    home.tarmac("rm", removed.name)
    assert until(lambda: [path.name for path in (home.path / "checkouts").iterdir()] == [kept.name])
    assert until(lambda: os.listdir(kept / "project") == ["result"])
    assert output(home, "--snapshot", "cat", "train.py", cwd=project) == "print('old')\n"
    home.tarmac("retry", kept.name)
    home.tarmac("wait", kept.name)
    assert sorted(os.listdir(kept / "project")) == ["result", "train.py"]


def test_a_project_sweeps_and_batches_take_one_snapshot_for_all_their_jobs(shared_home: Home, project: Path) -> None:
    (project / "data").mkdir()
    (project / "data" / "big").write_text("data")
    (project / ".tarmac.toml").write_text('[defaults]\nsnapshot = true\nlink = ["data"]\ngpus = 0\n')
    (project / "jobs.txt").write_text("cat train.py\ncat data/big\n")
    swept = shared_home.tarmac("sweep", "sh -c 'pwd {n}'", "n=1,2", cwd=project).stdout.strip()
    batched = shared_home.tarmac("add", "--batch", "jobs.txt", cwd=project).stdout.strip()
    (project / "train.py").write_text("changed")
    numbers = [job.id for ids in (swept, batched) for job in shared_home.client().wait(ids)]
    snapshots = [show(shared_home, number)["snapshot"] for number in numbers]
    assert len(snapshots) == 4
    assert len({snapshot["tree"] for snapshot in snapshots}) == 1
    assert all(snapshot["links"] == ["data"] for snapshot in snapshots)
    assert "checkouts" in shared_home.tarmac("log", swept.split("-")[0]).stdout
    assert [shared_home.tarmac("log", str(number)).stdout for number in numbers[2:]] == ["print('old')\n", "data"]
    assert output(shared_home, "--no-snapshot", "pwd", cwd=project) == f"{project}\n"
    both = shared_home.tarmac("add", "--snapshot", "--no-snapshot", "true", cwd=project.parent)
    assert both.returncode == 2
    assert "exclude each other" in both.stderr


def test_a_copy_of_a_job_runs_its_snapshot(shared_home: Home, project: Path) -> None:
    output(shared_home, "--snapshot", "cat", "train.py", cwd=project)
    first = show(shared_home)
    (project / "train.py").write_text("changed")
    copied = shared_home.tarmac("rerun", str(first["id"])).stdout.strip()
    shared_home.tarmac("wait", copied)
    assert shared_home.tarmac("log", copied).stdout == "print('old')\n"
    assert show(shared_home, copied)["snapshot"]["checkout"] != first["snapshot"]["checkout"]


def test_a_copy_may_run_the_code_of_today(shared_home: Home, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "train.py").write_text("print('other')\n")
    (project / "data").mkdir()
    output(shared_home, "--snapshot", "--link", "data", "cat", "train.py", cwd=project)
    first = show(shared_home)
    output(shared_home, "cat", "train.py", cwd=other)
    second = show(shared_home)
    (project / "train.py").write_text("today")

    jobs = (str(first["id"]), str(second["id"]))
    copied = shared_home.tarmac("rerun", *jobs, "--snapshot", "--hold", "--json", cwd=tmp_path)
    assert copied.returncode == 0, copied.stderr
    third, fourth = json.loads(copied.stdout)["ids"]
    unfrozen = shared_home.tarmac("clone", jobs[0], "--no-snapshot", "--hold", cwd=tmp_path).stdout.strip()
    for directory in (project, other):
        (directory / "train.py").write_text("later")
    copies = (str(third), str(fourth), unfrozen)
    shared_home.tarmac("release", *copies)
    shared_home.tarmac("wait", *copies)
    assert [shared_home.tarmac("log", job).stdout for job in copies] == ["today", "print('other')\n", "later"]
    assert show(shared_home, third)["snapshot"]["links"] == ["data"]
    assert show(shared_home, third)["snapshot"]["root"] == str(project)
    assert show(shared_home, fourth)["snapshot"]["root"] == str(other)
    assert show(shared_home, unfrozen)["snapshot"] is None

    for verb in ("rerun", "clone"):
        both = shared_home.tarmac(verb, jobs[0], "--snapshot", "--no-snapshot")
        assert both.returncode == 2
        assert "exclude each other" in both.stderr
    other.rename(tmp_path / "moved")
    gone = shared_home.tarmac("rerun", *jobs, "--snapshot")
    assert gone.returncode == 2
    assert f"{other}, where job {second['id']} was submitted, does not exist" in gone.stderr
    assert "--cwd" in gone.stderr
    moved = shared_home.tarmac("rerun", jobs[1], "--snapshot", "--cwd", str(tmp_path / "moved"))
    assert moved.returncode == 0, moved.stderr
    assert show(shared_home, moved.stdout.strip())["snapshot"]["root"] == str(tmp_path / "moved")


@pytest.mark.parametrize("use", ["start", "checkout", "diff"])
def test_a_damaged_snapshot_is_noticed_on_use_and_the_next_submit_replaces_it(
    shared_home: Home, project: Path, tmp_path: Path, use: str
) -> None:
    (project / "train.py").write_text(f"print('{use}')\n")
    frozen = ("-g", "0", "--snapshot", "python3", "train.py")
    job = shared_home.tarmac("add", "--hold", *frozen, cwd=project).stdout.strip()
    with closing(sqlite3.connect(shared_home.path / "snapshots.db")) as connection, connection:
        digest = hash_of(f"print('{use}')\n".encode())
        assert connection.execute("UPDATE objects SET data = x'00' WHERE hash = ?", (digest,)).rowcount == 1
    if use == "start":
        shared_home.tarmac("release", job)
        shared_home.tarmac("wait", job)
        said = shared_home.tarmac("show", job).stdout
    elif use == "checkout":
        said = shared_home.tarmac("checkout", job, str(tmp_path / "copy")).stderr
    else:
        (project / "train.py").write_text("print('new')\n")
        said = shared_home.tarmac("diff", job, cwd=project).stderr
        (project / "train.py").write_text(f"print('{use}')\n")
    assert "is damaged" in said
    assert "submit the job again from the original files" in said
    # The check of the whole snapshot follows the end of the attempt.
    assert until(lambda: "is not stored" in shared_home.tarmac("checkout", job, str(tmp_path / "again")).stderr)
    assert output(shared_home, "--snapshot", "python3", "train.py", cwd=project) == f"{use}\n"
    assert shared_home.tarmac("retry" if use == "start" else "release", job).returncode == 0
    assert shared_home.tarmac("wait", job).returncode == 0


def test_a_copy_of_an_imported_job_needs_its_snapshot_here(
    shared_home: Home, home: Home, project: Path, tmp_path: Path
) -> None:
    output(shared_home, "--snapshot", "python3", "train.py", cwd=project)
    number = show(shared_home)["id"]
    file = str(tmp_path / "jobs.jsonl")
    assert shared_home.tarmac("export", file, str(number), "--with-environment").returncode == 0
    assert home.tarmac("import", file).returncode == 0
    for verb in ("rerun", "clone", "retry"):
        refused = home.tarmac(verb, "last")
        assert refused.returncode != 0
        assert "is not stored" in refused.stderr
    assert home.tarmac("rerun", "last", "--snapshot", "--hold").returncode == 0


def test_an_unchanged_work_tree_is_sent_again_if_the_controller_lost_it(home: Home, project: Path) -> None:
    until(lambda: time.time() - (project / ".git" / "index").stat().st_mtime > 0.2)
    for _ in range(2):  # the second one is recognized without git
        assert output(home, "--snapshot", "python3", "train.py", cwd=project) == "old\n"
    assert home.tarmac("stop").returncode == 0
    for file in home.path.glob("snapshots.db*"):
        file.unlink()
    assert output(home, "--snapshot", "python3", "train.py", cwd=project) == "old\n"
    (project / "train.py").write_text("print('new')\n")
    assert output(home, "--snapshot", "python3", "train.py", cwd=project) == "new\n"
