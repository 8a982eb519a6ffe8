"""What a job waits for, and under which terms it was queued, in a few words."""

from __future__ import annotations

from tarmac.cli.render.outcome import SIGNALS
from tarmac.cli.render.text import safe, spans
from tarmac.shared.clocks import epoch
from tarmac.shared.units import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tarmac.client import Client

    Job = Mapping[str, Any]

TERM = 15
QUARTER_S = 900  # in no country a day ends in the middle of one
# The jobs of a queue start in few different minutes, so each is worked out once.
_clocks: dict[tuple[str | float, int], str] = {}


def starts(job: Job, at: float) -> str:
    """`waits for 7`, `at 22:00`, or an estimate: `~14:30`."""
    if job["state"] != "queued":
        return ""
    if job.get("waits_for"):
        return f"waits for {spans(job['waits_for'])}"
    begin, estimate = job.get("begin_at"), job.get("estimated_start")
    if begin is not None and moment(begin) > at:
        return f"at {_clock(begin, at)}"
    return "" if estimate is None else f"~{_clock(estimate, at)}"


def find_waits(client: Client, jobs: list[dict[str, Any]], *, are_all_active: bool) -> None:
    """Give each its `waits_for`: of the jobs that it is to come after, those that have not ended."""
    dependent = [job for job in jobs if job["state"] == "queued" and job.get("after")]
    if not dependent:
        return
    active = {job["id"] for job in jobs if job["state"] not in {"succeeded", "failed", "cancelled"}}
    if not are_all_active:
        unlisted = {number for job in dependent for number in _named(job)} - {job["id"] for job in jobs}
        active |= _active_among(client, unlisted)
    for job in dependent:
        job["waits_for"] = [number for number in _named(job) if number in active]


def _active_among(client: Client, numbers: set[int]) -> set[int]:
    """Asked for as a range: of single ids, one that was forgotten meanwhile would be an error."""
    if not numbers:
        return set()
    query = {"ids": f"{min(numbers)}-{max(numbers) + 1}", "state": "active", "fields": "id"}
    return {job["id"] for page in client.pages(query) for job in page}


def terms(job: Job, at: float) -> Iterator[tuple[str, str]]:
    """What was said about when it may run, and for how long."""
    if job.get("position") is not None:
        yield "place", f"{job['position']:,} of its owner's waiting jobs"
    if job.get("held_by"):
        yield "held", safe(f"by {job['held_by']}; `tarmac release {job['id']}` lets it go")
    if job.get("tier") not in {None, "normal"}:
        yield "tier", safe(job["tier"])
    if job.get("group") is not None:
        yield "array", _array(job)
    if job.get("after"):
        yield "after", ", ".join(map(str, job["after"]))
    if job.get("begin_at") is not None:
        yield "begins", f"not before {_clock(job['begin_at'], at)}"
    if job.get("time_limit_s") is not None:
        yield "limit", f"{duration(job['time_limit_s'])} of running"
    if job.get("stop_signal") not in {None, TERM}:
        number = job["stop_signal"]
        yield "asked by", f"{SIGNALS.get(number) or f'signal {number}'} to stop"


def moment(value: str | float) -> float:
    return epoch(value) if isinstance(value, str) else value


def _array(job: Job) -> str:
    words = f"index {job['index']} of the array that begins with job {job['group']}"
    return words + (f", {job['max_running']} at once" if job.get("max_running") else "")


def _clock(value: str | float, at: float) -> str:
    key = (value[:16] if isinstance(value, str) else value, int(at) // QUARTER_S)
    words = _clocks.get(key)
    if words is None:
        from tarmac.shared.clocks import clock

        words = _clocks[key] = clock(moment(value), at)
    return words


def _named(job: Job) -> list[int]:
    return [int(str(word).partition(":")[0]) for word in job["after"]]
