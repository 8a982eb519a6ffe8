"""A log with a cap: what is kept, where it is, and that offsets stay valid while a job goes on writing."""

import errno
import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from tarmac.agent.log_file import LogFile, cap, size_of
from tarmac.agent.logs import find_tail, read_end, read_log
from tarmac.agent.outcome import error_lines


def lines(first: int, last: int) -> bytes:
    return b"".join(b"line %05d\n" % number for number in range(first, last))  # 11 bytes each


def content(path: Path) -> tuple[int, bytes]:
    """Where the content begins, and all of it."""
    with LogFile(str(path)) as log:
        data, at = b"", log.begin
        while piece := log.read(1000, at):
            data += piece
            at += len(piece)
        assert at == log.size
        return log.begin, data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "7.1.log"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_small_file_is_left_alone(path: Path) -> None:
    append(path, lines(0, 100))
    assert not cap(str(path), 4000)
    assert content(path) == (0, lines(0, 100))
    assert os.listdir(path.parent) == [path.name]


def test_half_of_the_cap_is_for_what_was_before(path: Path) -> None:
    append(path, lines(0, 101))
    assert cap(str(path), 2200)
    append(path, lines(101, 150))
    assert path.read_bytes() == lines(101, 150)
    assert content(path) == (11, lines(1, 150))
    assert size_of(str(path)) == 150 * 11


def test_the_oldest_output_goes_and_offsets_stay(path: Path) -> None:
    written = 0
    for number in range(0, 1000, 50):
        append(path, lines(number, number + 50))
        written = number + 50
        cap(str(path), 1100)
        begin, data = content(path)
        assert begin + len(data) == written * 11
        assert lines(0, written).endswith(data)
        taken = sum(file.stat().st_size for file in path.parent.iterdir())
        assert taken <= 1100 + 100, "the cap, and the line that says what was removed"
    assert begin > 0
    assert (path.parent / "7.1.log.older").read_bytes().startswith(b"[tarmac: %d bytes of earlier" % begin)


def test_a_flood_is_cut_to_its_end(path: Path) -> None:
    append(path, lines(0, 10_000))
    assert cap(str(path), 2200)
    begin, data = content(path)
    assert (begin, data) == (11 * 9900, lines(9900, 10_000))


def test_the_owner_and_the_mode_stay(path: Path) -> None:
    append(path, lines(0, 1000))
    path.chmod(0o640)
    cap(str(path), 2200)
    older = path.parent / "7.1.log.older"
    assert (older.stat().st_mode, older.stat().st_uid) == (path.stat().st_mode, path.stat().st_uid)


def test_readers_see_one_file(path: Path) -> None:
    for number in range(0, 1000, 50):
        append(path, lines(number, number + 50))
        cap(str(path), 2200)
    answer = read_log({"type": "read_log", "path": str(path), "offset": 0, "limit": 11})
    assert answer.get("offset", 0) % 11 == 0
    assert answer.get("size") == 11_000
    tail = find_tail({"type": "tail_log", "path": str(path), "lines": 60})
    assert tail.get("offset") == 11 * 940, "some of them are in the older part"
    assert read_end(str(path), 0, 33) == lines(997, 1000)
    end = read_log({"type": "read_log", "path": str(path), "offset": -22, "limit": 100})
    assert end.get("offset") == 11 * 998


def test_a_full_disk_leaves_the_newest_output(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append(path, lines(0, 1000))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tarmac.agent.log_file._copy", full)
    assert cap(str(path), 2200)
    assert path.stat().st_size == 0
    assert os.listdir(path.parent) == [path.name]


def _is_waiting(pid: int) -> bool:
    """Has it closed the loop and reached its `read`? Then it sleeps in the pipe."""
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text()


def test_a_writer_that_goes_on_loses_at_most_a_moment(path: Path) -> None:
    script = f"exec >>{path}; for n in $(seq 20000); do echo line $n; done; read; echo line 20001"
    writer = subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    while not (path.exists() and size_of(str(path)) and _is_waiting(writer.pid)):
        if path.exists():
            cap(str(path), 20_000)
    size = size_of(str(path))  # it has written all but the last line
    writer.communicate(b"\n")
    assert size_of(str(path)) == size + len("line 20001\n")
    begin, data = content(path)
    kept = [line.split()[-1] for line in data.split(b"\n") if line.startswith(b"line ") and line.split()[-1].isdigit()]
    numbers = [int(number) for number in kept]
    assert numbers[-1] == 20_001
    assert numbers == sorted(numbers)
    assert begin > 0


@pytest.mark.parametrize("step", [550, 555, 700])
def test_what_is_kept_begins_with_a_whole_line(path: Path, step: int) -> None:
    """Also if a cut fell into the middle of a line, and the rest of it came later."""
    written = lines(0, 1000)
    for at in range(0, len(written), step):
        append(path, written[at : at + step])
        cap(str(path), 1100)
        begin, data = content(path)
        assert begin % 11 == 0
        assert data == written[begin : at + step]
    assert begin > 0


def test_the_end_of_a_line_that_is_longer_than_the_cap_is_kept(path: Path) -> None:
    append(path, b"x" * 5000)
    assert cap(str(path), 2200)
    assert content(path) == (3900, b"x" * 1100)


def test_a_job_that_locks_its_output_keeps_nobody_waiting(path: Path) -> None:
    append(path, lines(0, 101))
    assert cap(str(path), 2200)
    append(path, lines(101, 210))
    with path.open("ab") as job:
        fcntl.flock(job, fcntl.LOCK_EX)
        assert not cap(str(path), 2200), "it is cut later"
        assert content(path) == (11, lines(1, 210))
        assert size_of(str(path)) == 210 * 11
    assert cap(str(path), 2200)
    assert content(path)[1].endswith(lines(110, 210))


def test_a_file_system_without_locks_has_logs_with_a_cap_as_well(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    append(path, lines(0, 101))
    assert cap(str(path), 2200)
    assert content(path) == (11, lines(1, 101))


@pytest.mark.parametrize("line", [b"\n", b"a\n", b"memory\n"])
@pytest.mark.parametrize("has_traceback", [True, False])
def test_many_short_lines_are_not_all_searched_for_an_error(path: Path, line: bytes, has_traceback: bool) -> None:
    """Each costs time, and a helper that takes too long makes its mount count as silent."""
    trace = b"Traceback (most recent call last):\n  File 'a.py', line 1\nValueError: bad\n"
    flood = line * ((1 << 20) // len(line))
    append(path, flood + (trace if has_traceback else b"") + flood + (b"" if has_traceback else b"error: bad\n"))
    seen: list[int] = []
    find = error_lines.find_failure
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(error_lines, "find_failure", lambda lines: seen.append(len(lines)) or find(lines))
        answer = find_tail({"type": "tail_log", "ref": 1, "path": str(path), "lines": 0, "error": True})
    assert seen[0] < 30_000
    assert answer["is_found"]
    expected = len(flood) if has_traceback else 2 * len(flood)
    assert answer["offset"] == expected


@pytest.mark.parametrize("call", ["ftruncate", "replace"])
@pytest.mark.parametrize("earlier", [0, 1], ids=["the first cut", "the second cut"])
@pytest.mark.parametrize("more", [0, 10, 400])
def test_a_cut_that_is_interrupted_neither_doubles_nor_loses_output(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str, earlier: int, more: int
) -> None:
    """A kill at any moment: before the file is emptied, and before the copy has its name."""

    class Killed(BaseException):
        pass

    calls = []

    def killed(*args: object) -> None:
        if call == "replace" and not calls:
            calls.append(args)
            os.rename(*args)  # type: ignore[arg-type]
            return
        raise Killed

    for _ in range(earlier):
        append(path, lines(0, 200))
        assert cap(str(path), 2200)
    first = 200 * earlier
    append(path, lines(first, first + 300))
    with monkeypatch.context() as kills:
        kills.setattr(os, call, killed)
        with pytest.raises(Killed):
            cap(str(path), 2200)
    last = first + 300 + more
    append(path, lines(first + 300, last))
    for _ in range(3):
        begin, data = content(path)
        assert begin + len(data) == 11 * last == size_of(str(path)), "offsets stay"
        assert data == lines(begin // 11, last)
        cap(str(path), 2200)
    assert not (path.parent / f"{path.name}.older.cut").exists()
