"""Answers the controller's questions about files. The answers come from helpers, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional, Set, Union, cast

from tarmac.agent.connection import Connection, UnknownFrame
from tarmac.agent.files.log_watch import LogWatch
from tarmac.agent.files.pool import FileHelpers, Request
from tarmac.agent.loop import Loop, log
from tarmac.agent.outcome.conclusion import question
from tarmac.shared.protocol import decode
from tarmac.shared.system import kernel

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, FailedRecord
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import (
        CheckEnvironmentsFrame,
        CheckPathsFrame,
        FileQuestionFrame,
        FindLinksFrame,
        FindMetricsFrame,
        FingerprintSubject,
        PlainQuestionFrame,
        ReadLogFrame,
        TailLogFrame,
        TakeFingerprintFrame,
    )
    from tarmac.shared.frames.to_controller import (
        FingerprintTaken,
        LinksFoundFrame,
        LogGrewErrorFrame,
        LogGrewFrame,
        MetricsFoundFrame,
    )

_READ_WITHIN_S = 4.0  # before a client wonders whether the controller still answers
_EXAMINE_WITHIN_S = 1.0  # the GPUs of the attempt stay booked until then
_FIND_WITHIN_S = 4.0  # a pattern may take forever on some line
_TIDY_WITHIN_S = 600.0  # thousands of files
_PIECE_WITHIN_S = 8.0  # then the controller asks again
_FINGERPRINT_WITHIN_S = 20.0  # nobody waits for it
_LONG = frozenset(("list_checkouts", "tidy_checkouts", "list_logs", "remove_logs", "keep_objects"))
# Without an answer, the controller asks again later.
_PLAIN = frozenset(
    (
        "list_checkouts", "tidy_checkouts", "list_logs", "remove_logs", "missing_objects", "add_objects",
        "add_object_part", "keep_objects", "list_files", "read_file",
    )
)  # fmt: skip
_CHECK_WITHIN_S = 0.4  # twice that is less than the controller waits


class FileService:
    def __init__(self, loop: Loop, state: str, send: Callable[[Union[LogGrewFrame, LogGrewErrorFrame]], None]) -> None:
        inotify_fd = _inotify()
        self._loop = loop
        self._helpers = FileHelpers(loop, state, inotify_fd)
        self._watch = LogWatch(loop, self._helpers, inotify_fd, send)

    @property
    def pids(self) -> Set[int]:
        return self._helpers.pids

    def open(self) -> None:
        """Fork a helper, but not before other things that are needed at once."""
        self._loop.after(_CHECK_WITHIN_S, self._prepare, "file helpers")

    def _prepare(self) -> None:
        from tarmac.agent.outcome import examination  # noqa: F401  every helper inherits its patterns, which take a while

        self._helpers.prepare()

    def forget_watches(self) -> None:
        """The controller that asked for them is gone."""
        self._watch.clear()

    def answer(self, connection: Connection, frame: FileQuestionFrame) -> None:
        """The answer must not go to a later connection."""
        if frame["type"] == "watch_log":
            self._watch.add(frame)
        elif frame["type"] == "unwatch_log":
            self._watch.remove(frame.get("ref"))
        elif frame["type"] == "check_paths":
            self._check_paths(connection, frame)
        elif frame["type"] == "check_environments":
            self._check_environments(connection, frame)
        elif frame["type"] == "find_metrics":
            self._find(
                connection, frame, {"type": "metrics_found", "ref": frame.get("ref"), "found": [], "place": None}
            )
        elif frame["type"] == "find_links":
            self._find(connection, frame, {"type": "links_found", "ref": frame.get("ref"), "found": []})
        elif frame["type"] == "take_fingerprint":
            self._answer_fingerprint(connection, frame)
        elif frame["type"] == "read_log" or frame["type"] == "tail_log":
            self._read(connection, frame)
        elif frame["type"] in _PLAIN:
            self._ask_plainly(connection, frame)
        else:
            raise UnknownFrame(frame["type"])

    def examine(self, record: FailedRecord, done: Callable[[Optional[ExaminedFrame]], None]) -> None:
        """Find out why an attempt failed. The report waits for a moment only, as a file system may hang."""
        frame = question(record)
        if frame is None:
            done(None)
            return

        def answered(data: bytes) -> None:
            done(cast("ExaminedFrame", decode(data)))

        self._helpers.ask(Request(cast("AnyFrame", frame), _EXAMINE_WITHIN_S, answered, lambda _: done(None)))

    def _read(self, connection: Connection, frame: Union[ReadLogFrame, TailLogFrame]) -> None:
        def silent(reason: str) -> None:
            error = f"{frame['path']}: {reason}"
            if frame["type"] == "read_log":
                connection.send(
                    {"type": "log", "ref": frame.get("ref"), "error": error, "is_missing": False, "is_silent": True}
                )
            else:
                connection.send({"type": "log_tail", "ref": frame.get("ref"), "error": error, "is_silent": True})

        self._helpers.ask(Request(cast("AnyFrame", frame), _READ_WITHIN_S, connection.send_encoded, silent))

    def _find(
        self,
        connection: Connection,
        frame: Union[FindMetricsFrame, FindLinksFrame],
        nothing: Union[MetricsFoundFrame, LinksFoundFrame],
    ) -> None:
        def silent(_: str) -> None:
            connection.send(nothing)

        self._helpers.ask(Request(cast("AnyFrame", frame), _FIND_WITHIN_S, connection.send_encoded, silent))

    def _ask_plainly(self, connection: Connection, frame: PlainQuestionFrame) -> None:
        """Without an answer, the controller asks again later."""

        def silent(reason: str) -> None:
            log(f"{frame['type']}: {reason}")

        within_s = _TIDY_WITHIN_S if frame["type"] in _LONG else _PIECE_WITHIN_S
        self._helpers.ask(Request(cast("AnyFrame", frame), within_s, connection.send_encoded, silent))

    def _check_paths(self, connection: Connection, frame: CheckPathsFrame, *, is_repeated: bool = False) -> None:
        def silent(_: str) -> None:
            if not is_repeated:
                self._check_paths(connection, frame, is_repeated=True)  # now without the mount that hangs
                return
            connection.send(
                {
                    "type": "paths_checked",
                    "ref": frame.get("ref"),
                    "directories": [None] * len(frame["directories"]),
                    "outputs": ["silent"] * len(frame["outputs"]),
                    "identities": [None] * len(frame["outputs"]),
                    "present": [None] * len(frame.get("present", [])),
                    "programs": [None] * len(frame.get("programs", [])),
                }
            )

        self._helpers.ask(Request(cast("AnyFrame", frame), _CHECK_WITHIN_S, connection.send_encoded, silent))

    def _check_environments(self, connection: Connection, frame: CheckEnvironmentsFrame) -> None:
        def silent(_: str) -> None:
            connection.send(
                {
                    "type": "environments_checked",
                    "ref": frame.get("ref"),
                    "venvs": [{"is_venv": None, "nearest": None} for _ in frame["venvs"]],
                    "condas": [{"is_known": None, "prefix": None, "known": []} for _ in frame["condas"]],
                }
            )

        self._helpers.ask(Request(cast("AnyFrame", frame), _CHECK_WITHIN_S, connection.send_encoded, silent))

    def take_fingerprint(self, subject: FingerprintSubject, done: Callable[[FingerprintTaken], None]) -> None:
        """With a generous time limit, because no request waits for it."""
        frame: TakeFingerprintFrame = {"type": "take_fingerprint", "subject": subject}
        self._helpers.ask(
            Request(
                cast("AnyFrame", frame),
                _FINGERPRINT_WITHIN_S,
                lambda data: done(cast("FingerprintTaken", decode(data))),
                lambda _: None,
            )
        )

    def _answer_fingerprint(self, connection: Connection, frame: TakeFingerprintFrame) -> None:
        def silent(_: str) -> None:
            connection.send({"type": "fingerprint_taken", "ref": frame.get("ref"), "fingerprint": None})

        self._helpers.ask(Request(cast("AnyFrame", frame), _CHECK_WITHIN_S * 2, connection.send_encoded, silent))


def _inotify() -> Optional[int]:
    """None if the user has no inotify instances left: then logs are looked at every second."""
    try:
        return kernel.inotify_init()
    except OSError as error:
        log(f"no inotify: {error}")
        return None
