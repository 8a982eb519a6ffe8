"""The file that jobs are written to before they are removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tarmac.controller.history.dump_file import append, refuse_unusable
from tarmac.refusal import Refused

HEADER = {"tarmac_export": 1}


def test_records_are_appended_behind_one_header(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    append(str(path), HEADER, [{"job": 1}])
    append(str(path), HEADER, [{"job": 2}, {"job": 3}])
    assert path.read_text().splitlines() == ['{"tarmac_export":1}', '{"job":1}', '{"job":2}', '{"job":3}']
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("torn", ['{"job":9', '{"job":"' + "x" * 200_000])
def test_a_line_that_a_crash_cut_off_is_cut_away(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "dump"
    append(str(path), HEADER, [{"job": 1}])
    with path.open("a") as file:
        file.write(torn)
    append(str(path), HEADER, [{"job": 2}])
    assert path.read_text().splitlines() == ['{"tarmac_export":1}', '{"job":1}', '{"job":2}']


@pytest.mark.parametrize("torn", ['{"tarm', '{"tarmac_export":1,"qu'])
def test_a_header_that_a_crash_cut_off_is_written_again(tmp_path: Path, torn: str) -> None:
    path = tmp_path / "dump"
    path.write_text(torn)
    append(str(path), HEADER, [{"job": 2}])
    assert path.read_text().splitlines() == ['{"tarmac_export":1}', '{"job":2}']


@pytest.mark.parametrize("content", ["my notes", "my notes\n", "a\nb", '{"other": 1}\n'])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "dump"
    path.write_text(content)
    with pytest.raises(Refused) as refused:
        append(str(path), HEADER, [{"job": 2}])
    assert refused.value.key == "history.not_a_dump"
    assert path.read_text() == content


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path, tmp_path / "no" / "such", tmp_path / "link"):
        with pytest.raises(Refused) as refused:
            append(str(path), HEADER, [{"job": 2}])
        assert refused.value.key in {"history.cannot_dump", "history.not_a_dump"}
    assert not os.path.lexists(tmp_path / "elsewhere")


def test_a_full_disk_leaves_whole_lines() -> None:
    with pytest.raises(Refused) as refused:
        append("/dev/full", HEADER, [{"job": 2}])
    assert refused.value.key == "history.not_a_dump"


def test_a_file_that_can_be_used_is_accepted_and_not_created(tmp_path: Path) -> None:
    path = tmp_path / "dump"
    refuse_unusable(str(path))
    assert not path.exists()
    append(str(path), HEADER, [{"job": 1}])
    refuse_unusable(str(path))
    for torn in ("", '{"tarm'):  # by a crash
        path.write_text(torn)
        refuse_unusable(str(path))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("missing/dump", "setting.no_directory"),
        ("script.py", "setting.not_a_dump"),
        ("link", "setting.not_writable"),
        ("pipe", "setting.not_a_dump"),
        (".", "setting.not_writable"),
        ("/proc/self/mem", "setting.not_a_dump"),  # cannot be read at its beginning
    ],
)
def test_a_file_that_cannot_be_used_is_refused_when_it_is_set(tmp_path: Path, name: str, key: str) -> None:
    (tmp_path / "script.py").write_text("print(1)\n")
    (tmp_path / "link").symlink_to("script.py")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused) as refused:
        refuse_unusable(os.path.join(tmp_path, name))
    assert refused.value.key == key
