"""The examination of a failed attempt, which begins before its report: the exit record takes its time to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, FailedRecord
    from tarmac.agent.run.attempt_host import AttemptHost


class Examination:
    def __init__(self, host: AttemptHost, record: FailedRecord) -> None:
        self._is_over = False
        self._found: Optional[ExaminedFrame] = None
        self._then: Optional[Callable[[Optional[ExaminedFrame]], None]] = None
        host.examine(record, self._end)

    def then(self, call: Callable[[Optional[ExaminedFrame]], None]) -> None:
        """Call once it is over, at once if it is. Without an answer, because a file system hangs, `found` is None."""
        if self._is_over:
            call(self._found)
        else:
            self._then = call

    def _end(self, found: Optional[ExaminedFrame]) -> None:
        self._is_over, self._found = True, found
        if self._then is not None:
            self._then(found)
