"""The pauses of an attempt, as the run directory holds them: the agent writes, the shim reads. Times are monotonic."""

from __future__ import annotations

from typing import NamedTuple, Optional

from tarmac.agent.records.attempt_key import AttemptKey, key_of_record
from tarmac.agent.records.run_folder import Record


class Pauses(NamedTuple):
    since: Optional[float] = None  # when the present pause began; None: it is not paused
    is_counted: bool = False  # the time limit's clock runs on during the present pause
    paused_s: float = 0.0  # in all pauses that are over
    counted_s: float = 0.0  # the part of it that counts against the time limit

    def total_s(self, now: float) -> float:
        return self.paused_s + self._present_s(now)

    def extension_s(self, now: float) -> float:
        """By how much the time limit has been put off."""
        return self.paused_s - self.counted_s + (0.0 if self.is_counted else self._present_s(now))

    @property
    def stops_clock(self) -> bool:
        return self.since is not None and not self.is_counted

    def begun(self, now: float, *, is_counted: bool) -> Pauses:
        return self._replace(since=now, is_counted=is_counted)

    def ended(self, now: float) -> Pauses:
        this_s = self._present_s(now)
        counted_s = self.counted_s + (this_s if self.is_counted else 0.0)
        return Pauses(paused_s=self.paused_s + this_s, counted_s=counted_s)

    def _present_s(self, now: float) -> float:
        return 0.0 if self.since is None else max(0.0, now - self.since)


NEVER = Pauses()


def pauses_of(record: Optional[Record], key: AttemptKey) -> Pauses:
    """The folder may still hold a record of the attempt that used it before."""
    if record is None or key_of_record(record) != key:
        return NEVER
    return Pauses(record["since"], record["is_counted"], record["paused_s"], record["counted_s"])


def record_of(pauses: Pauses, key: AttemptKey) -> Record:
    return {"job": key.job, "attempt": key.attempt, **pauses._asdict()}
