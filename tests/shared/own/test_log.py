"""Tarmac's own logs: bounded, whole lines, many writers, inherited descriptors, a full disk."""

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import need

SMALL = "from tarmac.shared.own import log as own_log; own_log.MOST_BYTES = 20_000\n"
WRITERS = """
import os, sys
log = own_log.OwnLog(sys.argv[1]); log.open()
children = []
for name in "abcd":
    pid = os.fork()  # with the parent's descriptors
    if not pid:
        for number in range(2000):
            log.write(f"{name} {number:05d} end")
        os._exit(0)
    children.append(pid)
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
log.write("parent 00000 end")
"""


def run(script: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", SMALL + script, str(path)], check=True, timeout=60)


def files(path: Path) -> list[Path]:
    return sorted(path.parent.glob(path.name + "*"))


def test_it_is_bounded_and_its_lines_are_whole_with_many_writers(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    run(WRITERS, path)
    assert [file.name for file in files(path)] == ["agent.log", "agent.log.1", "agent.log.2", "agent.log.3"]
    for file in files(path):
        assert file.stat().st_size < 25_000
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        for line in file.read_text().splitlines():
            name, number, end = line.split(" ")
            assert (name in ("a", "b", "c", "d", "parent"), len(number), end) == (True, 5, "end")
    assert "parent 00000 end\n" in path.read_text()


def test_a_writer_waits_while_another_renames(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_text("x" * 30_000)
    held = os.open(path, os.O_WRONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    script = """
import os, sys
log = own_log.OwnLog(sys.argv[1]); own_log.TRIES = 10_000; log.open()
os.write(3, b"?"); log.write("the line")
"""
    asked, asks = os.pipe()
    words = [sys.executable, "-c", SMALL + script.replace("os.write(3", f"os.write({asks}"), str(path)]
    with subprocess.Popen(words, pass_fds=[asks]) as writer:
        assert os.read(asked, 1)
        path.rename(tmp_path / "agent.log.1")
        os.close(held)
        assert writer.wait(60) == 0
    assert path.read_text() == "the line\n"
    assert (tmp_path / "agent.log.1").stat().st_size == 30_000


def test_a_writer_does_not_wait_for_a_suspended_process(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_text("x" * 30_000)
    with path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run("import sys\nlog = own_log.OwnLog(sys.argv[1]); log.open(); log.write('the line')", path)
    assert path.read_text().endswith("the line\n")


def test_a_process_that_inherited_the_file_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    script = """
import os, sys
log = own_log.OwnLog(sys.argv[1]); log.open()
wait, go = os.pipe()
pid = os.fork()
if not pid:
    os.read(wait, 1)
    log.write("from the child")
    os._exit(0)
for number in range(9):
    log.write("x" * 15_000)  # several files later
log.write("from the parent")
os.write(go, b"x")
os.waitpid(pid, 0)
print("printed", flush=True)
os.write(2, b"raw\\n")
"""
    run(script, path)
    assert path.read_text().split("x\n")[-1] == "from the parent\nfrom the child\nprinted\nraw\n"


def test_a_removed_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    script = "import os, sys; log = own_log.OwnLog(sys.argv[1]); log.open(); os.unlink(sys.argv[1]); log.write('again')"
    run(script, path)
    assert path.read_text() == "again\n"


def test_an_older_file_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_text("before\n")
    path.chmod(0o644)
    run("import sys; own_log.OwnLog(sys.argv[1]).open()", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "before\n"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    need("root")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tarmac-test", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_it_is_rotated_on_a_full_disk_and_written_again_later(disk: Path) -> None:
    path = disk / "agent.log"
    script = """
import os, sys
path = sys.argv[1]
log = own_log.OwnLog(path); log.open()
log.write("y" * 30_000)
filler = os.open(path.replace("agent.log", "filler"), os.O_WRONLY | os.O_CREAT)
try:
    while os.write(filler, b"x" * 4096):
        pass
except OSError:
    pass
log.write("lost")
assert os.path.getsize(path + ".1") == 30_001
os.unlink(path.replace("agent.log", "filler"))
os.close(filler)
log.write("again")
"""
    run(script, path)
    assert path.read_text() == "again\n"
