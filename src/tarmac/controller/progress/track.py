"""What the readings of one attempt show together: when it ends, unless its bar cannot mean the whole job. Pure.

A bar that stands still does not put the end off. A bar that begins anew may count the steps of an epoch, not those of
the job: it is believed once it has lasted clearly longer than the bars before it. A counter without a time, such as
`step 300/1000`, tells the end by its pace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tarmac.records import dataclass

if TYPE_CHECKING:
    from tarmac.controller.progress.parser import Progress

LATE_S = 60.0  # a job that runs on for longer after its bar is full does something that the bar does not count
LONGER = 2.0  # times as long as the bars before it
LEAST_FALL = 0.05  # several processes may print the same bar


class Point(NamedTuple):
    fraction: float
    at: float


@dataclass(slots=True)
class Track:
    """`is_old`: the bar may be one that another attempt left in the file."""

    read_at: float  # by the caller's clock; all other moments are by a clock that stands still during pauses
    progress: Progress | None
    seen_at: float  # when this progress was first read
    bar_since: float  # when its bar was first read
    is_old: bool = False
    longest_bar_s: float = 0.0  # of the bars that ended
    last: float | None = None  # the newest fraction; other output may have followed
    pace_from: Point | None = None  # the first change that was seen of this bar

    def note(self, progress: Progress | None, at: float) -> None:
        if progress == self.progress:
            return
        self.progress, self.seen_at, self.is_old = progress, at, False
        if progress is not None:
            self._note_fraction(progress.fraction, at)

    def _note_fraction(self, fraction: float, at: float) -> None:
        before, self.last = self.last, fraction
        if before is None:
            self.bar_since = at
        elif fraction < before / 2 and before - fraction > LEAST_FALL:
            self.longest_bar_s = max(self.longest_bar_s, at - self.bar_since)
            self.bar_since, self.pace_from = at, None
        elif self.pace_from is None and fraction > before:
            self.pace_from = Point(fraction, at)

    def left_s(self, at: float) -> float | None:
        """How long the attempt will run from now on; less than 0 if it should be over, None if that is not known."""
        progress = self.progress
        if progress is None or progress.fraction <= 0 or self.is_old:
            return None
        if self.seen_at - self.bar_since < LONGER * self.longest_bar_s:
            return None
        eta_s = self._eta_by_pace(progress) if progress.eta_s is None else progress.eta_s
        if eta_s is None:
            return None
        left_s = eta_s - (at - self.seen_at)
        return left_s if left_s >= -LATE_S else None

    def _eta_by_pace(self, progress: Progress) -> float | None:
        begin = self.pace_from
        if begin is None or not begin.fraction < progress.fraction < 1:
            return None
        return (1 - progress.fraction) * (self.seen_at - begin.at) / (progress.fraction - begin.fraction)


def new_track(progress: Progress | None, at: float, *, has_older_output: bool) -> Track:
    """The track of an attempt after its first reading."""
    return Track(
        read_at=at,
        progress=progress,
        seen_at=at,
        bar_since=at,
        is_old=progress is not None and has_older_output,
        last=None if progress is None or has_older_output else progress.fraction,
    )
