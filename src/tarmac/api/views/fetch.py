"""The files of a job that are copied back, as the API shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.job import FetchView
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.core.model.ids import NodeName

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.controller.fetch.record import Problem
    from tarmac.core.model.job import Job


def fetch_view(controller: Controller, job: Job) -> FetchView | None:
    record = controller.fetches.of(job.id)
    if record is None:
        return None
    is_gone = not record.is_over and controller.fleet.get(NodeName(record.node)) is None
    return FetchView(
        state="gone" if is_gone else record.state,
        node=record.node,
        files=record.files,
        bytes=record.bytes,
        same=record.same,
        problems=[problem_words(problem) for problem in record.problems],
        more_problems=record.more_problems,
    )


def problem_words(problem: Problem) -> str:
    match problem.kind:
        case "missing":
            return say("fetch.missing", path=problem.path)
        case "newer":
            return say("fetch.newer", path=problem.path)
        case "link":
            return say("fetch.link", path=problem.path, target=problem.detail)
        case "special":
            return say("fetch.special", path=problem.path)
        case "in_the_way":
            return say("fetch.in_the_way", path=problem.path)
        case "changing":
            return say("fetch.changing", path=problem.path)
        case "too_many":
            return say("fetch.too_many", path=problem.path, most=int(problem.detail))
        case "unreadable":
            return say("fetch.unreadable", path=problem.path, trouble=problem.detail)
        case "unwritable":
            return say("fetch.unwritable", path=problem.path, trouble=problem.detail)
