"""What the frames of both directions have in common."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict

AnyFrame = Dict[str, Any]  # decoded, and nothing checked but that it has a "type"


class OfAttempt(TypedDict):
    job: int
    attempt: int


class Origin(TypedDict):
    """The job and the booking behind an attempt. The agent stores it and repeats it in every hello."""

    identity: str  # differs between two jobs with the same id, of different databases
    body: str  # JSON that only controllers read


class Question(TypedDict, total=False):
    """A frame that is answered. The answer repeats `ref`, which the sender's connection adds."""

    ref: int


class Answer(TypedDict):
    ref: Optional[int]


class SearchPlace(TypedDict):
    """Where the search of a job's logs continues, and what it found so far."""

    path: int
    end: int
    values: List[Optional[str]]
