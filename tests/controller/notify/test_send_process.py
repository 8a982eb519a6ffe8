"""The process that sends: its journal, its answers, and its end."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tarmac.controller.notify.send_process import Journal
from tests.home import until
from tests.receivers import webhook


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


# The process


class Process:
    """The real process, with shorter limits."""

    def __init__(self, state: Path, longest_s: int = 60, first: str = "") -> None:
        code = (
            "import tarmac.controller.notify.send_process as room\n"
            f"room.LONGEST_S, room.AFTER_END_S = {longest_s}, 0.5\n"
            f"{first}\n"
            "room.main()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, **words: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def send(self, url: str, ref: int = 1, tokens: tuple[str, ...] = ("token",)) -> None:
        self.write(ref=ref, url=url, tokens=tokens, title="t", body="b", kind="info", proxy=None)

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def close(self) -> int:
        """Its input ends, as when the controller dies. Its exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


def test_a_message_is_noted_in_the_journal_before_it_is_reported(tmp_path: Path) -> None:
    with webhook() as hook:
        process = Process(tmp_path)
        assert process.read() == {"ready": True}
        process.send(hook.url())
        assert process.read() == {"ref": 1, "error": None}
        assert Journal(str(tmp_path / "outbox.sent")).tokens == {"token"}
        process.write(forget=["token"])
        assert until(lambda: (tmp_path / "outbox.sent").read_bytes() == b"")
        assert process.close() == 0


def test_a_message_that_was_sent_is_reported_although_the_journal_cannot_be_written(tmp_path: Path) -> None:
    """Otherwise it would be sent again and again."""
    with webhook() as hook:
        process = Process(tmp_path, first="import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))")
        assert process.read() == {"ready": True}
        process.send(hook.url())
        assert process.read() == {"ref": 1, "error": None}
        assert hook.asked == 1
        assert process.close() == 0


def test_what_a_library_prints_is_not_an_answer(tmp_path: Path) -> None:
    process = Process(tmp_path, first="room.sent = lambda request: print('debug', flush=True)")
    assert process.read() == {"ready": True}
    process.send("json://127.0.0.1:9")
    assert process.read() == {"ref": 1, "error": None}
    assert process.close() == 0


def test_a_server_that_answers_by_and_by_is_given_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as drip:
        process = Process(tmp_path, longest_s=2)
        process.read()
        process.send(f"json://127.0.0.1:{drip.getsockname()[1]}/?rto=60")
        connection, _ = drip.accept()
        with connection:
            assert process.read() == {"ref": 1, "error": {"kind": "timeout", "text": "2"}}
        assert process.close() == 0
        assert Journal(str(tmp_path / "outbox.sent")).tokens == set()


def test_a_message_that_hangs_is_killed_soon_after_the_controller_is_gone(tmp_path: Path) -> None:
    with webhook() as hook:
        hook.hold()
        process = Process(tmp_path)
        process.read()
        process.send(hook.url())
        assert until(lambda: hook.asked)
        assert process.close() == 0


def test_the_next_process_waits_for_the_last_message_and_reports_it(tmp_path: Path) -> None:
    with webhook() as hook:
        hook.hold()
        first = Process(tmp_path)
        first.read()
        first.send(hook.url(), tokens=("a", "b"))
        assert until(lambda: hook.asked)
        first.process.kill()  # its fork goes on
        first.process.wait(60)
        second = Process(tmp_path)
        hook.release()
        assert second.read() == {"sent": ["a", "b"]}
        assert second.read() == {"ready": True}
        assert second.close() == 0
        first.process.stdin.close()  # type: ignore[union-attr]
        first.process.stdout.close()  # type: ignore[union-attr]


@pytest.mark.parametrize("url", ["nosuch://token-1234", "slack://token-1234", "json://"])
def test_a_url_that_apprise_does_not_take_is_a_problem_without_the_url(tmp_path: Path, url: str) -> None:
    process = Process(tmp_path)
    process.read()
    process.send(url)
    error = process.read()["error"]
    assert error["kind"] == "bad_url"
    assert "1234" not in error["text"]
    assert process.close() == 0
