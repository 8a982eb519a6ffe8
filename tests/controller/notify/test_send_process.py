"""The journal of the process that sends."""

import os
from pathlib import Path

from tarmac.controller.notify.send_process import Journal


def test_what_was_added_is_there_for_the_next_process(tmp_path: Path) -> None:
    path = str(tmp_path / "sent")
    Journal(path).add(["a", "b"])
    assert Journal(path).tokens == {"a", "b"}
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_it_is_emptied_once_everything_is_committed(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "sent"))
    journal.add(["a", "b"])
    journal.refresh()
    journal.forget(["a"])
    assert journal.tokens == {"b"}
    journal.forget(["b"])
    journal.empty()
    journal.add(["c"])
    journal.refresh()
    assert journal.tokens == {"c"}
    assert Journal(str(tmp_path / "sent")).tokens == {"c"}


def test_a_line_that_was_cut_off_hides_no_other(tmp_path: Path) -> None:
    path = tmp_path / "sent"
    path.write_bytes(b"\nfirst\n\nsec")
    journal = Journal(str(path))
    assert journal.tokens == {"first"}
    journal.add(["third"])
    assert Journal(str(path)).tokens >= {"first", "third"}
    assert "second" not in Journal(str(path)).tokens
