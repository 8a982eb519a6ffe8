"""Which unfinished jobs each queued job waits for."""

from __future__ import annotations

from tarmac.shared.names import ENDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.records import Job


def find_waits(client: Client, jobs: list[Job], *, are_all_active: bool) -> None:
    """Give each its `waits_for`: of the jobs that it is to come after, those that have not ended."""
    dependent = [job for job in jobs if job.state == "queued" and job.after]
    if not dependent:
        return
    active = {job.id for job in jobs if job.state not in ENDED}
    if not are_all_active:
        unlisted = {number for job in dependent for number in _named(job)} - {job.id for job in jobs}
        active |= _active_among(client, unlisted)
    for job in dependent:
        job.waits_for = [number for number in _named(job) if number in active]


def _active_among(client: Client, numbers: set[int]) -> set[int]:
    """Asked for as a range: of single ids, one that was forgotten meanwhile would be an error."""
    if not numbers:
        return set()
    span = f"{min(numbers)}-{max(numbers) + 1}"
    return {job.id for job in client.jobs(span, state="active", fields="id")}


def _named(job: Job) -> list[int]:
    return [int(str(word).partition(":")[0]) for word in job.after]
