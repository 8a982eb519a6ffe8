"""How often a job is tried again and after which ends, from its request and the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tarmac.core.model.job import RETRIED
from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.controller.submit.request import JobRequest
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.names import OnOom, RetryKind

RETRIES_AFTER_OOM = 3  # for a job that says what to do on out of memory, but not how often


class Retries(NamedTuple):
    times: int
    on: tuple[RetryKind, ...]


def retries_of(job: JobRequest, default: int) -> Retries:
    """Refuses options about retries of a job that has none."""
    refuse_oom_contradiction(job.on_oom, job.retry_on)
    on = tuple(dict.fromkeys(job.retry_on)) or RETRIED
    if job.retries is None and not default and job.on_oom in {"retry", "grow"}:
        return Retries(RETRIES_AFTER_OOM, on if job.retry_on else ("oom",))
    count = default if job.retries is None else job.retries
    if not count:
        _refuse_without_retry(job)
    return Retries(count, on)


def refuse_oom_contradiction(on_oom: OnOom | None, retry_on: Iterable[RetryKind] | None) -> None:
    if on_oom == "fail" and "oom" in (retry_on or ()):
        raise invalid("submit.oom_contradiction")


def _refuse_without_retry(job: JobRequest) -> None:
    given = {
        "--retry-on": bool(job.retry_on),
        "--retry-delay": job.retry_delay_s is not None,
        f"--on-oom {job.on_oom}": job.on_oom in {"retry", "grow"},
    }
    for flag, is_given in given.items():
        if is_given:
            raise invalid("submit.no_retries", flag=flag)


def refuse_oom_without_retry(spec: JobSpec) -> None:
    """For a job that is edited."""
    if spec.on_oom in {"retry", "grow"} and not spec.retries:
        raise invalid("submit.no_retries", flag=f"--on-oom {spec.on_oom}")
