"""`tarmac doctor` tries what the first command would do, where that can fail."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.verbs.admin.doctor import installation
from tarmac.cli.verbs.admin.doctor.state import check_state
from tarmac.store.database.schema import APPLICATION_ID
from tarmac.store.snapshots import SnapshotStore
from tests.home import Home, until

NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount, or act as another user")


def examined(home: Home, **environment: str) -> dict[str, dict[str, str]]:
    """What `doctor` finds wrong, by check."""
    done = home.tarmac("doctor", "--json", env=environment)
    assert done.stderr == ""
    bad = {finding["check"]: finding for finding in json.loads(done.stdout) if finding["verdict"] == "bad"}
    assert done.returncode == (1 if bad else 0)
    return bad


def everything(path: Path) -> list[str]:
    return sorted(str(entry) for entry in path.rglob("*"))


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A separate small file system."""
    place = tmp_path / "mounted"
    place.mkdir(0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", place]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield place
    subprocess.run(["umount", place], check=True)


HANGING = """
import sys, time
from tarmac.cli.main import main
from tarmac.cli.verbs.admin.doctor import state

def hang(trial):
    open(trial, "x").close()
    print("trying", flush=True)
    time.sleep(60)

state._ATTEMPTS = (("hang", hang),)
sys.argv = ["tarmac", "doctor"]
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_running", [False, True])
def test_nothing_is_left_behind_if_it_is_interrupted(home: Home, number: signal.Signals, *, is_running: bool) -> None:
    state = home.path if is_running else home.path / "a" / "b"
    home.path.mkdir(0o700)
    if is_running:
        home.tarmac("status")
    command = [sys.executable, "-c", HANGING]
    environment = {**home.environment, "TARMAC_HOME": str(state)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as doctor:
        assert doctor.stdout is not None
        assert doctor.stderr is not None
        assert doctor.stdout.readline() == b"trying\n"
        doctor.send_signal(number)
        assert doctor.wait(20) == 128 + number
        assert (doctor.stdout.read(), doctor.stderr.read()) == (b"", b"")
    assert not list(home.path.glob(".doctor*"))
    assert is_running or everything(home.path) == []


@pytest.mark.parametrize("name", ["tarmac.sock", "tarmac.db", "controller.log", "controller.lock", "agent/agent.lock"])
def test_a_directory_in_the_place_of_a_file_is_reported(home: Home, name: str) -> None:
    (home.path / name).mkdir(0o700, parents=True)
    home.path.chmod(0o700)
    assert "is a directory, so it cannot be used" in examined(home)["state directory"]["text"]


def test_a_file_in_the_place_of_a_directory_is_reported(home: Home) -> None:
    home.path.mkdir(0o700)
    (home.path / "logs").touch(0o600)
    assert "logs is not a directory" in examined(home)["state directory"]["text"]


def test_a_controller_that_cannot_create_its_socket_names_it(home: Home) -> None:
    (home.path / "tarmac.sock").mkdir(0o700, parents=True)
    home.path.chmod(0o700)
    done = home.tarmac("status")
    assert done.returncode == 5
    assert f"{home.path}/tarmac.sock: Is a directory" in done.stderr
    (home.path / "tarmac.sock").rmdir()
    assert home.tarmac("status").returncode == 0


def test_nothing_is_left_behind(home: Home) -> None:
    nested = {"TARMAC_HOME": str(home.path / "a" / "b")}
    home.path.mkdir(0o700)
    assert examined(home, **nested) == {}
    assert everything(home.path) == []
    assert examined(home) == {}
    assert everything(home.path) == []
    assert not home.processes()
    # With a running controller, too.
    home.tarmac("status")
    assert examined(home) == {}
    assert not list(home.path.glob(".doctor*"))
    assert home.tarmac("run", "true").returncode == 0


@as_root
def test_a_read_only_file_system(home: Home, mounted: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
    for path in (mounted, mounted / "new"):
        bad = examined(home, TARMAC_HOME=str(path))
        assert "Read-only file system" in bad["state directory"]["text"]
        assert "TARMAC_HOME" in bad["state directory"]["advice"]
    assert home.tarmac("ls", env={"TARMAC_HOME": str(mounted)}).returncode == 5


@as_root
def test_a_full_disk(home: Home, mounted: Path) -> None:
    filler = os.open(mounted / "filler", os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space"):
        while True:
            os.write(filler, b"x" * 4096)
    os.close(filler)
    bad = examined(home, TARMAC_HOME=str(mounted))
    assert "No space left on device" in bad["state directory"]["text"]
    assert "free some space" in bad["free space"]["advice"]


def test_a_home_that_is_a_file(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        bad = examined(home, TARMAC_HOME=str(path))
        assert "state directory" in bad
        assert (tmp_path / "file").is_file()


def test_a_path_too_long_for_the_file_system(home: Home, tmp_path: Path) -> None:
    assert "File name too long" in examined(home, TARMAC_HOME=str(tmp_path / ("x" * 300)))["state directory"]["text"]


def test_a_path_longer_than_a_socket_address_works(home: Home, tmp_path: Path) -> None:
    assert examined(home, TARMAC_HOME=str(tmp_path / ("x" * 100) / ("y" * 100))) == {}


@as_root
def test_a_directory_of_another_user(home: Home) -> None:
    home.path.mkdir(0o700)
    os.chown(home.path, NOBODY, NOBODY)
    assert f"belongs to another user (uid {NOBODY})" in examined(home)["state directory"]["text"]


@as_root
def test_a_directory_that_the_user_may_not_write_to(tmp_path: Path) -> None:
    for folder in tmp_path.parents:
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    state = tmp_path / "state"
    state.mkdir(0o500)
    tmp_path.chmod(0o755)
    os.chown(state, NOBODY, NOBODY)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setuid(NOBODY)
            os.write(writer, "\n".join(f"{one.verdict} {one.text}" for one in check_state(str(state))).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as told:
        text = told.read()
    os.waitpid(child, 0)
    assert f"bad cannot create a directory in {state}: Permission denied" in text
    assert "ok state directory" not in text


def test_modes_that_are_too_open(home: Home) -> None:
    home.path.mkdir()
    place = Path("/tmp") / f"doctor-{os.getpid()}"
    place.mkdir(0o755)
    try:
        state = place / "state"
        state.mkdir()
        (state / "config.toml").touch()
        state.chmod(0o777)
        bad = examined(home, TARMAC_HOME=str(state))
        for check in ("state directory", "config"):
            assert f"{state} can be changed by other users (mode 0777)" in bad[check]["text"]
            assert f"chmod go-w {state}" in bad[check]["advice"]
        state.chmod(0o755)
        (state / "config.toml").chmod(0o666)
        assert (
            "config.toml can be changed by other users (mode 0666)"
            in examined(home, TARMAC_HOME=str(state))["config"]["text"]
        )
    finally:
        shutil.rmtree(place)


def test_modes_that_tarmac_puts_right_are_only_a_warning(home: Home) -> None:
    home.path.mkdir(0o700)
    (home.path / "controller.log").touch()
    (home.path / "controller.log").chmod(0o666)
    done = home.tarmac("doctor")
    assert done.returncode == 0
    assert f"! state directory: {home.path}/controller.log can be changed by other users" in done.stdout
    assert (home.path / "controller.log").stat().st_mode & 0o777 == 0o666, "doctor changes nothing"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_load = 'plenty'", "max_load"),
        ("max_laod = 0.1", "max_load"),
        ("[[nodes]]\nname = 'x'", "kind"),
        ("= nonsense", "TOML"),
    ],
)
def test_a_config_file_that_the_controller_refuses(home: Home, text: str, words: str) -> None:
    home.path.mkdir(0o700)
    (home.path / "config.toml").write_text(text)
    finding = examined(home)["config"]
    assert words in finding["text"] + str(finding["advice"])
    done = home.tarmac("ls")
    assert done.returncode == 2
    assert finding["text"] in done.stderr, "doctor and the first command say the same"


def test_a_node_of_the_config_file_that_was_added_before(home: Home) -> None:
    assert home.tarmac("node", "add", "gpu02", "--later").returncode == 0
    assert home.tarmac("stop").returncode == 0
    config = home.path / "config.toml"
    config.write_text(f"[[nodes]]\nname = 'gpu02'\nkind = 'local'\nstate = '{home.path}/second'\n")
    done = home.tarmac("ls")
    assert (done.returncode, "gpu02, which was already added" in done.stderr) == (2, True), done.stderr
    config.unlink()
    assert [node["name"] for node in home.client().nodes()][1:] == ["gpu02"]


def test_a_config_file_with_targets_that_others_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # pytest's own directories are below a private one
        os.chmod(place, 0o755)
        config = Path(place) / "tarmac" / "config.toml"
        config.parent.mkdir(0o755)
        monkeypatch.delenv("TARMAC_HOME", raising=False)
        monkeypatch.setenv("XDG_CONFIG_HOME", place)
        config.write_text('[notify.targets]\nmail = "json://x"\n')
        config.chmod(0o644)
        (finding,) = installation._check_config_modes()
        assert (finding.verdict, finding.advice) == ("warning", f"run `chmod go= {config}`")
        config.chmod(0o600)
        assert list(installation._check_config_modes()) == []
        config.write_text("max_load = 0.2\n")
        config.chmod(0o644)
        assert list(installation._check_config_modes()) == []


def test_a_config_file_that_is_a_directory(home: Home) -> None:
    (home.path / "config.toml").mkdir(parents=True)
    home.path.chmod(0o700)
    assert "config.toml" in examined(home)["config"]["text"]


def test_a_database_of_another_program_or_of_a_newer_tarmac(home: Home) -> None:
    home.path.mkdir(0o700)
    other = sqlite3.connect(home.path / "tarmac.db")
    other.executescript("CREATE TABLE recipes (name); PRAGMA user_version = 99;")
    other.close()
    assert "another program" in examined(home)["database"]["text"]
    other = sqlite3.connect(home.path / "tarmac.db")
    other.executescript(f"PRAGMA application_id = {APPLICATION_ID};")
    other.close()
    assert "newer Tarmac" in examined(home)["database"]["text"]
    assert everything(home.path) == [str(home.path / "tarmac.db")]


def test_a_node_whose_agent_does_not_answer(home: Home, tmp_path: Path) -> None:
    blocker = tmp_path / "blocker"
    blocker.touch()
    home.path.mkdir(0o700)
    (home.path / "config.toml").write_text(f"[[nodes]]\nname = 'second'\nkind = 'local'\nstate = '{blocker}/state'\n")
    home.tarmac("status")
    assert until(lambda: examined(home).get("node second"))
    assert "not connected" in examined(home)["node second"]["text"]


def test_a_missing_package(home: Home, tmp_path: Path) -> None:
    (tmp_path / "uvloop.py").write_text("raise ImportError('No module named uvloop')\n")
    bad = examined(home, PYTHONPATH=str(tmp_path))
    assert "No module named uvloop" in bad["packages"]["text"]


def test_doctor_checks_the_database_when_no_controller_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path))
    path = tmp_path / "tarmac.db"
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE jobs (id); INSERT INTO jobs VALUES (1);")
    connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.close()
    run_line(["doctor"])
    assert "✓ database" in capfd.readouterr().out
    path.write_bytes(path.read_bytes()[:4096] + b"nonsense" * 512)
    assert run_line(["doctor"]) == 1
    assert "✗ database" in capfd.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["tarmac.db"]


def test_doctor_names_a_damaged_file_of_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path))
    store = SnapshotStore(tmp_path / "snapshots.db")
    assert store.missing(bytes(32)) == [0]
    run_line(["doctor"])  # while it is open
    assert "snapshots" not in capfd.readouterr().out
    store.close()
    before = everything(tmp_path)
    (tmp_path / "snapshots.db").write_text("garbage\n")
    assert run_line(["doctor"]) == 1
    assert f"✗ snapshots: {tmp_path}/snapshots.db: file is not a database" in " ".join(capfd.readouterr().out.split())
    (tmp_path / "snapshots.db").write_bytes(b"SQLite format 3\0" + b"x" * 8192)
    assert run_line(["doctor"]) == 1
    assert "✗ snapshots: " in capfd.readouterr().out
    assert everything(tmp_path) == before
