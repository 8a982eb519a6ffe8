"""No two jobs write to one log file, and no job writes to Tarmac's own files: both are refused at submit."""

import os
from pathlib import Path

import pytest

from tests.home import Home, until


@pytest.fixture
def home(swept_home: Home) -> Home:
    return swept_home


def refused(home: Home, *words: str) -> str:
    done = home.tarmac("add", *words)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


@pytest.fixture
def busy(home: Home, tmp_path: Path) -> Home:
    """Both GPUs are taken, so that later jobs wait."""
    home.add("-g", "2", "--", "sleep", "600")
    return home


@pytest.mark.parametrize("state", ["queued", "held", "draft", "running"])
def test_the_log_of_a_live_job_is_refused(home: Home, tmp_path: Path, state: str) -> None:
    log = tmp_path / "one.log"
    options = {"held": ["--hold"], "draft": ["--draft"]}.get(state, [])
    if state == "queued":
        home.add("-g", "2", "--", "sleep", "600")
    first = home.add("-g", "1", *options, "--log", str(log), "--", "sleep", "600")
    if state == "running":
        assert until(lambda: home.client().job(first).state == "running")
    assert home.client().job(first).state == state
    assert f"job {first}" in refused(home, "--log", str(log), "true")
    assert f"job {first}" in refused(home, "--stderr", str(log), "true")
    assert f"job {first}" in refused(home, "--append", "--log", str(log), "true")  # the first one does not share
    home.tarmac("kill", str(first), "--grace", "0")
    home.tarmac("wait", str(first))
    home.add("-g", "0", "--append", "--log", str(log), "true")


@pytest.mark.parametrize(
    "spelling", ["relative", "parent", "double", "directory link", "link", "dangling", "hard link"]
)
def test_another_spelling_is_the_same_file(busy: Home, tmp_path: Path, spelling: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    log = folder / "one.log"
    if spelling in {"link", "hard link"}:
        log.touch()
    job = busy.add("--log", str(log), "true")
    if spelling == "directory link":
        (tmp_path / "alias").symlink_to(folder)
    elif spelling in {"link", "dangling"}:
        (tmp_path / "alias.log").symlink_to(log)
    elif spelling == "hard link":
        os.link(log, tmp_path / "alias.log")
    other = {
        "relative": "out/one.log",
        "parent": f"{folder}/../out/one.log",
        "double": f"{tmp_path}//out/./one.log",
        "directory link": f"{tmp_path}/alias/one.log",
    }.get(spelling, f"{tmp_path}/alias.log")
    done = busy.tarmac("add", "--log", other, "true", cwd=tmp_path)
    assert done.returncode == 2, done
    assert f"job {job}" in done.stderr


def test_a_hard_link_made_after_the_job_created_its_file(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    job = home.add("--log", str(log), "--", "sleep", "600")
    assert until(log.exists)
    os.link(log, tmp_path / "alias.log")
    assert f"job {job}" in refused(home, "--log", str(tmp_path / "alias.log"), "true")


def test_other_spellings_are_known_after_a_restart(busy: Home, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "alias").symlink_to("out")
    job = busy.add("--log", str(tmp_path / "out" / "one.log"), "true")
    assert busy.tarmac("stop").returncode == 0
    assert f"job {job}" in refused(busy, "--log", str(tmp_path / "alias" / "one.log"), "true")
    assert f"job {job}" in refused(busy, "--log", str(tmp_path / "out" / "one.log"), "true")


def test_the_jobs_of_one_submit_need_different_files(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    assert str(log) in refused(home, "--array", "3", "--log", str(log), "true")
    assert not list(home.client().jobs())


def test_one_of_several_submits_at_once_gets_the_file(home: Home, tmp_path: Path) -> None:
    log = str(tmp_path / "one.log")
    assert home.tarmac("status").returncode == 0
    commands = [home.start("add", "--hold", "--log", log, "true") for _ in range(6)]
    codes = [command.wait(60) for command in commands]
    for command in commands:
        command.communicate()
    assert sorted(codes) == [0, 2, 2, 2, 2, 2]


def test_stdout_and_stderr_are_different_files(home: Home, tmp_path: Path) -> None:
    (tmp_path / "alias.log").symlink_to("one.log")
    said = refused(home, "--stdout", str(tmp_path / "one.log"), "--stderr", str(tmp_path / "alias.log"), "true")
    assert "same file" in said


def test_jobs_that_all_append_share_a_file(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "shared.log"
    jobs = [home.add("-g", "0", "--append", "--log", str(log), "--", "echo", word) for word in ("a", "b")]
    assert (
        home.tarmac("add", "-g", "0", "--array", "3", "--append", "--log", str(log), "--", "echo", "c").returncode == 0
    )
    home.tarmac("wait", "all")
    assert sorted(log.read_text().split()) == ["a", "b", "c", "c", "c"]
    assert jobs


def test_devices_are_shared(busy: Home) -> None:
    busy.add("--log", "/dev/null", "true")
    busy.add("--log", "/dev/null", "true")
    assert busy.tarmac("add", "--array", "3", "--log", "/dev/null", "true").returncode == 0


def test_the_same_job_appends_in_its_next_attempt(home: Home, tmp_path: Path) -> None:
    log = tmp_path / "one.log"
    job = home.add("--tier", "preemptible", "--log", str(log), "-c", "echo begun; sleep 600")
    assert until(lambda: log.exists() and log.read_text())
    home.tarmac("queue", "stop", "--requeue")
    assert until(lambda: home.client().job(job).state == "queued")
    home.tarmac("queue", "resume")
    assert until(lambda: log.read_text() == "begun\nbegun\n")


OWN = ("tarmac.db", "tarmac.db-wal", "new.log", "config.toml", "controller.log", "agent/agent.log", "tarmac.sock",
       "agent/runs/9.1", "agent/new", "logs/77.1.log", "logs/../controller.lock")  # fmt: skip


@pytest.mark.parametrize("option", ["--log", "--stdout", "--stderr"])
def test_no_job_writes_to_files_of_tarmac(shared_home: Home, option: str) -> None:
    for name in OWN:
        assert "Tarmac" in refused(shared_home, "--append", option, str(shared_home.path / name), "true"), name


@pytest.mark.parametrize("spelling", ["link", "dangling", "directory link", "hard link", "parent"])
def test_own_files_are_known_by_any_spelling(shared_home: Home, tmp_path: Path, spelling: str) -> None:
    assert shared_home.tarmac("status").returncode == 0
    path = tmp_path / "x.log"
    if spelling == "link":
        path.symlink_to(shared_home.path / "tarmac.db")
    elif spelling == "dangling":
        path.symlink_to(shared_home.path / "nothing-yet")
    elif spelling == "directory link":
        (tmp_path / "here").symlink_to(shared_home.path)
        path = tmp_path / "here" / "tarmac.db"
    elif spelling == "hard link":
        os.link(shared_home.path / "tarmac.db", path)
    else:
        path = shared_home.path / "logs" / ".." / "tarmac.db"
    assert "Tarmac" in refused(shared_home, "--append", "--log", str(path), "true")


def test_the_directory_of_logs_may_be_used(shared_home: Home) -> None:
    path = shared_home.path / "logs" / "mine.log"
    job = shared_home.add("-g", "0", "--log", str(path), "--", "echo", "hello")
    assert shared_home.tarmac("wait", str(job)).returncode == 0
    assert path.read_text() == "hello\n"


def test_a_link_made_after_the_submit_is_not_followed_into_tarmac(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    job = home.add("-g", "0", "--hold", "--append", "--log", str(path), "--", "echo", "damage")
    path.symlink_to(home.path / "tarmac.db")
    home.tarmac("release", str(job))
    home.tarmac("wait", str(job))
    assert home.client().job(job).reason == "launch"
    assert "Tarmac" in home.tarmac("show", str(job)).stdout
