"""Which attempt of which job: `7.2` is the second attempt of job 7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Optional

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import AttemptFrame


class AttemptKey(NamedTuple):
    job: int
    attempt: int

    def __str__(self) -> str:
        return f"{self.job}.{self.attempt}"


def key_of_frame(frame: AttemptFrame) -> AttemptKey:
    return AttemptKey(int(frame["job"]), int(frame["attempt"]))


def key_of_record(record: Optional[Mapping[str, Any]]) -> Optional[AttemptKey]:
    return AttemptKey(record["job"], record["attempt"]) if record else None


def parse_key(text: str) -> Optional[AttemptKey]:
    job, _, attempt = text.partition(".")
    return AttemptKey(int(job), int(attempt)) if job.isdigit() and attempt.isdigit() else None
