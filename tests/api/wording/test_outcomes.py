from dataclasses import replace

import pytest

from tarmac.api.wording.outcomes import remedy_words
from tarmac.core.model.job import Job
from tarmac.core.model.status import Queued, Requeue
from tests.core.support.builders import a_job


def between_attempts(**requeue: object) -> Job:
    job = a_job(7, status=Queued(requeued=Requeue(**{"why": "failed", **requeue})))  # type: ignore[arg-type]
    return replace(job, attempt=1, spec=replace(job.spec, warn="USR1@120"))


@pytest.mark.parametrize(
    ("requeue", "hint"),
    [
        ({"reason": "oom-gpu"}, "--on-oom grow"),
        ({"reason": "disk-full"}, "free space where the job writes"),
        ({"reason": "signal", "detail": 10}, "--signal USR1@120"),
        ({"reason": "exit", "detail": 138}, "--signal USR1@120"),
    ],
)
def test_a_job_between_two_attempts_has_the_hint_of_the_last_one(requeue: dict[str, object], hint: str) -> None:
    assert hint in str(remedy_words(between_attempts(**requeue)))


@pytest.mark.parametrize(
    "requeue", [{"reason": "exit", "detail": 10}, {"reason": "signal", "detail": 11}, {"why": "preempted"}]
)
def test_an_end_that_explains_itself_has_no_hint(requeue: dict[str, object]) -> None:
    assert remedy_words(between_attempts(**requeue)) is None
