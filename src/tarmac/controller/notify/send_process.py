"""`python -m tarmac.controller.notify.send_process STATE`: sends notifications. The only process that imports apprise.

Reads requests and writes answers, one JSON object a line. Each message is sent by a fork, which is killed after a
minute, so that a server that hangs does not block others. A fork notes in a journal what it sent before it says so. If
the controller is killed meanwhile, the next one learns from the journal what need not be sent again. The process and
its forks hold a lock: a successor reads the journal when all of them have ended.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import selectors
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from tarmac.controller.notify.masking import without_secrets
from tarmac.shared import crashpoint
from tarmac.shared.own import process_title

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_S = 60  # of one message
AFTER_END_S = 5.0  # how long messages under way may take once the controller is gone
LONGEST_ERROR = 300  # characters
CHUNK = 1000  # tokens in one line
_ADDRESSES = {
    "https://open.feishu.cn/open-apis/bot/v2/hook/": "feishu",
    "https://oapi.dingtalk.com/robot/send?access_token=": "dingtalk",
}


class Problem(TypedDict):
    """Why a message was not sent, and what a library said about it."""

    kind: Literal["failed", "timeout", "bad_url", "not_installed", "no_target", "broken", "unreadable"]
    text: str


class Journal:
    """The tokens of sent notifications that the controller has not committed yet."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._size = 0
        self.tokens: set[str] = set()
        self.refresh()

    def refresh(self) -> None:
        """Read what forks have noted since. A line without an end was cut off by a crash, and does not count."""
        data = os.pread(self._fd, os.fstat(self._fd).st_size - self._size, self._size)
        whole = data[: data.rfind(b"\n") + 1]
        self._size += len(whole)
        self.tokens.update(whole.decode("ascii", "replace").split())

    def add(self, tokens: Iterable[str]) -> None:
        """Called in a fork. The line before may have been cut off."""
        os.write(self._fd, "".join(f"\n{token}\n" for token in tokens).encode())
        os.fdatasync(self._fd)

    def forget(self, tokens: Iterable[str]) -> None:
        self.tokens.difference_update(tokens)

    def empty(self) -> None:
        """Only while no fork can write to it."""
        os.ftruncate(self._fd, 0)
        self._size = 0


class SendProcess:
    def __init__(self, state: str) -> None:
        self._lock = os.open(os.path.join(state, "outbox.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)  # an earlier process may still be sending
        self._journal = Journal(os.path.join(state, "outbox.sent"))
        self._forks: dict[int, tuple[int, dict[str, Any]]] = {}  # by the pipe of its answer: its pid and the request
        self._selector = selectors.DefaultSelector()
        self._input = b""

    def run(self) -> None:
        tokens = sorted(self._journal.tokens)
        for start in range(0, len(tokens), CHUNK):
            _answer({"sent": tokens[start : start + CHUNK]})
        _answer({"ready": True})
        os.set_blocking(0, False)
        self._selector.register(0, selectors.EVENT_READ)
        is_open, deadline = True, 0.0
        while is_open or (self._forks and time.monotonic() < deadline):
            for key, _ in self._selector.select(None if is_open else max(0.0, deadline - time.monotonic())):
                if key.fd != 0:
                    self._reap(key.fd)
                elif not self._take_input():
                    self._selector.unregister(0)
                    is_open, deadline = False, time.monotonic() + AFTER_END_S
        for pid, _ in self._forks.values():
            os.kill(pid, signal.SIGKILL)

    def _take_input(self) -> bool:
        """False once the controller is gone."""
        data = os.read(0, 1 << 20)
        self._input += data
        *lines, self._input = self._input.split(b"\n")
        for line in lines:
            request = json.loads(line)
            if "forget" in request:
                self._forget(request["forget"])
            else:
                self._fork(request)
        return bool(data)

    def _forget(self, tokens: list[str]) -> None:
        self._journal.refresh()
        self._journal.forget(tokens)
        if not self._journal.tokens and not self._forks:
            self._journal.empty()

    def _fork(self, request: dict[str, Any]) -> None:
        _load_apprise()  # once, for all forks
        reader, writer = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            _send_and_exit(request, self._journal, writer)
        os.close(writer)
        self._forks[reader] = (pid, request)
        self._selector.register(reader, selectors.EVENT_READ)

    def _reap(self, reader: int) -> None:
        """A fork writes its answer at once, and ends."""
        answer = b""
        while part := os.read(reader, 65536):
            answer += part
        self._selector.unregister(reader)
        os.close(reader)
        pid, request = self._forks.pop(reader)
        _, status = os.waitpid(pid, 0)
        if answer:
            error = json.loads(answer)
        elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            error = Problem(kind="timeout", text=str(LONGEST_S))
        else:
            error = Problem(kind="broken", text=str(os.waitstatus_to_exitcode(status)))
        _answer({"ref": request["ref"], "error": error})


def _answer(words: dict[str, Any]) -> None:
    try:
        os.write(1, json.dumps(words).encode() + b"\n")
    except BrokenPipeError:
        pass  # the controller is gone; the journal tells the next one


def _send_and_exit(request: dict[str, Any], journal: Journal, writer: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LONGEST_S)
    process_title.change("tarmac: notify, sending")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints must not be taken for an answer
    if request["proxy"] is not None:  # its URL may contain a password, so it was not in the environment before
        os.environ |= dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), request["proxy"])
        os.environ |= {"NO_PROXY": "localhost,127.0.0.1,::1"}
    try:
        try:
            error = sent(request)
        except Exception as failure:  # noqa: BLE001 - whatever a library raises is why it was not sent
            error = Problem(kind="failed", text=_shortened(f"{type(failure).__name__}: {failure}", request["url"]))
        if error is None:
            crashpoint.reach("notify:after-send")
            with suppress(OSError):  # the disk is full; it was sent all the same, and the controller is told
                journal.add(request["tokens"])
        os.write(writer, json.dumps(error).encode())
    finally:
        os._exit(0)


def _load_apprise() -> bool:
    try:
        import apprise  # noqa: F401
    except ImportError:
        return False
    return True


def sent(request: dict[str, Any]) -> Problem | None:
    """Send one message. None if it was accepted."""
    if not _load_apprise():
        return Problem(kind="not_installed", text="")
    import apprise

    complaints = _Complaints()
    logger = logging.getLogger("apprise")
    logger.addHandler(complaints)
    logger.propagate = False
    url = request["url"]
    asset = apprise.AppriseAsset(app_id="Tarmac", app_desc="Tarmac", async_mode=False)
    service = apprise.Apprise(asset=asset)
    if not service.add(with_scheme(url)):
        return Problem(kind="bad_url", text=_shortened(complaints.last(), url))
    is_sent = service.notify(
        title=request["title"], body=request["body"], notify_type=request["kind"], body_format=apprise.NotifyFormat.TEXT
    )
    return None if is_sent else Problem(kind="failed", text=_shortened(complaints.last(), url))


def with_scheme(url: str) -> str:
    """The address of a robot as the service shows it, in the form that apprise takes. It knows those of the others."""
    for address, scheme in _ADDRESSES.items():
        if url.startswith(address):
            token, _, more = url[len(address) :].partition("&")
            return f"{scheme}://{token}{'?' if more else ''}{more}"
    return url


class _Complaints(logging.Handler):
    """What apprise logs is the only place where it says why something failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())

    def last(self) -> str:
        return "; ".join(dict.fromkeys(self._lines))


def _shortened(text: str, url: str) -> str:
    words = " ".join(without_secrets(text, url).split())
    return words if len(words) <= LONGEST_ERROR else f"{words[: LONGEST_ERROR - 1]}…"


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on `tarmac serve` is for the controller
    process_title.begin("tarmac: notify", "tarmac-notify")
    SendProcess(sys.argv[1]).run()
    os._exit(0)


if __name__ == "__main__":
    main()
