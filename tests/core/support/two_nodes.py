"""A scene with two nodes, `a` and `b`, of two GPUs each unless a test says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tarmac.core.model.ids import JobId, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.status import Booked
from tests.core.support.builders import a_node, a_spec, a_state
from tests.core.support.scene import Scene

A, B = NodeName("a"), NodeName("b")


class TwoNodes(Scene):
    def __init__(self, a: int = 2, b: int = 2, **rules: Any) -> None:
        super().__init__()
        self.state = a_state(a_node(name=A, gpus=a), a_node(name=B, gpus=b))
        self.state.rules = replace(self.state.rules, **{"suspend_after_failures": 0, **rules})

    def node_of(self, job: int) -> str | None:
        status = self.jobs[JobId(job)].status
        return status.booking.node if isinstance(status, Booked) else None


def asking(gpus: int = 1, owner: str = "ann", **request: Any) -> JobSpec:
    return replace(a_spec(owner=owner), request=Request(gpus=gpus, **request))
