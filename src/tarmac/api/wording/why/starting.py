"""What a start waits for that does not complete: a file system that hangs, or the job's code on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.wording.catalogue.catalogue import say

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job


def start_lines(controller: Controller, job: Job) -> list[tuple[str, str]]:
    """Each with its kind."""
    if (code := controller.dispatcher.code.of(job.id)) is not None:
        if code.total_bytes is None:
            return [("code", say("waiting.code_compared", node=code.node))]
        sent = min(code.sent_bytes, code.total_bytes)
        return [("code", say("waiting.code", node=code.node, sent=sent, total=code.total_bytes))]
    path = controller.start_waits.of(job)
    return [] if path is None else [("silent_path", say("waiting.silent_path", path=path))]
