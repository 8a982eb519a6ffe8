"""Defaults from the config file, the project and a template: which one wins, and what is refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tarmac.cli.args.default_files import DefaultFiles
from tarmac.cli.main import run_line
from tests.cli.stub import answer, asked, serving


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's file; the command line runs in a directory below it."""
    (tmp_path / "project" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "sub")
    return tmp_path / "project" / ".tarmac.toml"


@pytest.fixture
def config(socket: Path) -> Path:
    return socket.parent / "config.toml"


def sent(socket: Path, *argv: str, before: tuple[bytes, ...] = (), verb: str = "add") -> dict[str, Any]:
    with serving(socket, *before, answer(b'{"ids": [7, 8]}', "201 Created")) as stub:
        assert run_line([verb, *argv]) == 0
    body = asked(stub)[-1][1]
    assert isinstance(body, dict)
    job: dict[str, Any] = body["jobs"][0]
    return job


def refused(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run_line(["add", *argv, "true"]) == 2
    return capfd.readouterr().err


TEMPLATE = answer(
    json.dumps({"name": "t", "job": 1, "saved_at": "", "options": {"gpus": 4, "tags": ["t"], "signal": 10}}).encode()
)


def test_without_files_nothing_is_added(socket: Path, project: Path) -> None:
    assert set(sent(socket, "true")) == {"command", "cwd"}


def test_the_command_line_wins_over_the_template_the_project_and_the_config(
    socket: Path, project: Path, config: Path
) -> None:
    config.write_text('[defaults]\ngpus = 1\ntime = "1h"\nretry = 1\ntag = ["c"]\nnice = 3\n')
    project.write_text('[defaults]\ngpus = 2\ntime = "2h"\nretry = 2\n')
    job = sent(socket, "--retry", "5", "--template", "t", "true", before=(TEMPLATE,))
    assert (job["gpus"], job["time_limit_s"], job["retries"], job["tags"], job["nice"]) == (4, 7200, 5, ["t"], 3)
    assert job["signal"] == 10
    assert job["origins"] == {
        "gpus": "template t", "tags": "template t", "signal": "template t", "time_limit_s": str(project),
        "nice": str(config),
    }  # fmt: skip


@pytest.mark.parametrize("argv", [["--time", "none", "--no-requeue", "--tag", "none", "--gpu-mem", "none"]])
def test_a_default_is_switched_off(socket: Path, project: Path, argv: list[str]) -> None:
    project.write_text('[defaults]\ntime = "2h"\nrequeue = true\ntag = ["a"]\ngpu-mem = "8G"\n')
    job = sent(socket, *argv, "true")
    assert set(job) == {"command", "cwd"} | ({"origins"} if "origins" in job else set())
    assert not job.get("origins")


def test_an_option_drops_defaults_that_it_contradicts(socket: Path, project: Path) -> None:
    project.write_text(
        '[defaults]\ngpu-mem = "8G"\ngpu-model = "a100"\nstdout = "o"\nstderr = "e"\non-oom = "grow"\nretry = 2\n'
    )
    job = sent(socket, "-g", "0", "--log", "l", "--retry", "0", "true")
    assert not {"gpu_memory_bytes", "gpu_models", "stdout", "stderr", "on_oom"} & set(job)


def test_a_default_entry_is_switched_off(socket: Path, project: Path) -> None:
    project.write_text("[defaults]\nhold = true\n")
    with serving(socket, answer(b'{"ids": [7]}', "201 Created")) as stub:
        assert run_line(["add", "--no-hold", "true"]) == 0
    body = asked(stub)[0][1]
    assert isinstance(body, dict)
    assert "entry" not in body


def test_a_default_entry_holds_jobs(socket: Path, project: Path) -> None:
    project.write_text("[defaults]\nhold = true\n")
    with serving(socket, answer(b'{"ids": [7]}', "201 Created")) as stub:
        assert run_line(["add", "true"]) == 0
    body = asked(stub)[0][1]
    assert isinstance(body, dict)
    assert body["entry"] == "held"


def test_variables_add_up(socket: Path, project: Path) -> None:
    project.write_text('[defaults]\nenv = ["A=1", "B=2"]\n')
    assert sent(socket, "--env", "B=3", "true")["env"] == ["A=1", "B=3"]


@pytest.mark.parametrize(
    ("argv", "origin"),
    [([], "{}"), (["--env", "B=2"], "{} and the command line"), (["--env", "A=2"], None)],
)
def test_variables_of_the_command_line_do_not_come_from_the_file(
    socket: Path, project: Path, argv: list[str], origin: str | None
) -> None:
    project.write_text('[defaults]\nenv = ["A=1"]\n')
    expected = {} if origin is None else {"env": origin.format(project)}
    assert sent(socket, *argv, "true").get("origins", {}) == expected


def test_the_directory_of_a_project_is_relative_to_its_file(socket: Path, project: Path) -> None:
    project.write_text('[defaults]\ncwd = "."\nlog = "out.log"\n')
    job = sent(socket, "true")
    assert (job["cwd"], job["log"]) == (str(project.parent), str(project.parent / "out.log"))


def test_a_sweep_and_a_batch_have_defaults(socket: Path, project: Path) -> None:
    project.write_text('[defaults]\ngpus = 2\nmax-running = 3\ntag = ["d"]\n')
    (project.parent / "sub" / "jobs.csv").write_text("command,gpus\na,1\n")
    job = sent(socket, "--batch", "jobs.csv")
    assert (job["gpus"], job["max_running"], job["tags"]) == (1, 3, ["d"])
    assert set(job["origins"]) == {"max_running", "tags"}


def test_a_sweep_has_defaults(socket: Path, project: Path) -> None:
    project.write_text("[defaults]\ngpus = 2\nmax-running = 3\n")
    job = sent(socket, "a {x}", "x=1,2", verb="sweep")
    assert (job["gpus"], job["max_running"]) == (2, 3)


def test_a_limit_for_groups_does_not_concern_a_single_job(socket: Path, project: Path) -> None:
    project.write_text("[defaults]\nmax-running = 3\n")
    assert "max_running" not in sent(socket, "true")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[defaults]\ngpsu = 2\n", "gpsu in [defaults] is not an option that can have a default\n  did you mean gpus?"),
        ("[defaults]\ngpus = 'two'\n", "gpus two: it must be a whole number"),
        ("[defaults]\ntime = 6\n", "which unit?"),
        ("[defaults]\nshell = 'x'\n", "shell in [defaults] is not an option"),
        ("[defaults]\nrequeue = 'maybe'\n", "it must be true or false"),
        ("[defaults]\nrequeue = 'yes'\n", "it must be true or false"),
        ("[defaults]\ngpus = [1]\n", "gpus must be a whole number, not a list"),
        ("[defaults]\ntime = ['1h', '2h']\n", "time must be text, such as DURATION, not a list"),
        ("[defaults]\ngpus = \n", "is not TOML"),
        ("gpus = 2\n", "unknown key gpus\n  write options of jobs below [defaults]"),
        ("defaults = 3\n", "defaults is not a table"),
    ],
)
def test_mistakes_are_refused(
    project: Path, socket: Path, text: str, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text(text)
    said = refused(capfd)
    assert message in said
    assert str(project) in said


def test_a_file_that_others_can_change_is_ignored(
    socket: Path, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text("[defaults]\ngpus = 2\n")
    project.chmod(0o666)
    assert "gpus" not in sent(socket, "true")
    assert f"ignoring {project}: other users can change it; run `chmod go-w" in capfd.readouterr().err


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_ignored(socket: Path, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project.write_text("[defaults]\ngpus = 2\n")
    os.chown(project, 12345, 12345)
    assert "gpus" not in sent(socket, "true")
    assert f"ignoring {project}: it belongs to another user" in capfd.readouterr().err


def test_the_nearest_project_counts_and_a_config_without_defaults_is_not_read(
    socket: Path, project: Path, config: Path
) -> None:
    config.write_text("grace_s = 5\n")
    assert (DefaultFiles().config, DefaultFiles().project) == (None, None)
    project.write_text("[defaults]\n")
    assert DefaultFiles().project == str(project)
    nearer = project.parent / "sub" / ".tarmac.toml"
    nearer.write_text("[defaults]\n")
    assert DefaultFiles().project == str(nearer)


def test_a_link_to_a_missing_file_is_refused(project: Path, socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project.symlink_to("/nonexistent")
    assert f"{project} cannot be read: No such file or directory" in refused(capfd)


@pytest.mark.parametrize("argv", [["--no-snapshot"], ["--no-snapshot", "--link", "none"]])
def test_a_snapshot_by_default_that_is_declined_leaves_no_trace(socket: Path, project: Path, argv: list[str]) -> None:
    project.write_text('[defaults]\nsnapshot = true\nlink = ["data"]\n')
    job = sent(socket, *argv, "true")
    assert job["snapshot"] is False
    assert "link" not in job
    assert not job.get("origins")


@pytest.mark.parametrize(("argv", "is_named"), [([], True), (["-g", "98"], False)])
def test_a_refusal_says_which_file_a_value_comes_from(
    socket: Path, project: Path, capfd: pytest.CaptureFixture[str], argv: list[str], is_named: bool
) -> None:
    project.write_text('[defaults]\ngpus = 99\ntime = "1h"\n')
    body = {"code": "invalid", "key": "infeasible.gpus", "message": "requested 99 GPUs", "hint": "request fewer"}
    refusal = answer(json.dumps({"error": body}).encode(), "422 Unprocessable Content")
    with serving(socket, refusal):
        said = refused(capfd, *argv)
    assert (f"\n  request fewer; gpus comes from {project}\n" in said) is is_named
    assert ("comes from" in said) is is_named


def test_a_dry_run_shows_options_as_one_types_them(
    socket: Path, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text('[defaults]\ngpu-mem = "8G"\nsignal = ["USR1", "TERM@60"]\nrequeue = true\n')
    with serving(socket, answer(b'{"ids": []}')):
        assert run_line(["add", "--time", "2h", "--tag", "a", "--tag", "b", "--dry-run", "true"]) == 0
    assert capfd.readouterr().out == (
        "true  (tag a,b, gpu-mem 8G from .tarmac.toml, time 2h, requeue from .tarmac.toml,"
        " signal USR1 from .tarmac.toml, signal TERM@60)\n"
    )
