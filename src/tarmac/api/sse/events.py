"""The events of a stream, and how each is encoded. `EVENTS` lists every kind; docs/api.md describes the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.api.schemas.gpus.gpus import GpuView
from tarmac.api.schemas.groups import GroupView
from tarmac.api.schemas.job.job import JobView
from tarmac.api.schemas.live import EstimatesEvent, LineEvent, NodesEvent, ProgressEvent, RemovedEvent
from tarmac.api.schemas.queue import QueueView
from tarmac.api.views.gpu import gpu_views
from tarmac.api.views.job import Viewer
from tarmac.api.views.queue import queue_view
from tarmac.core.model.ids import NodeName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.controller.controller import Controller
    from tarmac.core.model.job import Job

_ENCODER = msgspec.json.Encoder()


class Hello(msgspec.Struct, kw_only=True):
    """The first event. Everything that is committed after `last_event` follows."""

    last_event: int


class Empty(msgspec.Struct, kw_only=True):
    """An event without data: `missed` and `ping`."""


EVENTS: dict[str, type[msgspec.Struct]] = {
    "hello": Hello,
    "job": JobView,
    "gpu": GpuView,
    "queue": QueueView,
    "progress": ProgressEvent,
    "estimates": EstimatesEvent,
    "line": LineEvent,
    "group": GroupView,
    "removed": RemovedEvent,
    "nodes": NodesEvent,
    "missed": Empty,
    "ping": Empty,
}


def encoded(kind: str, data: msgspec.Struct) -> bytes:
    """One event, without an id: see `with_id`."""
    assert isinstance(data, EVENTS[kind])
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), _ENCODER.encode(data))


def with_id(event: bytes, number: int) -> bytes:
    """The event as a resume point: a client that has received it has received everything up to this number."""
    kind, _, data = event.partition(b"\n")
    return b"%s\nid: %d\n%s" % (kind, number, data)


def hello(last_event: int) -> bytes:
    return encoded("hello", Hello(last_event=last_event))


def missed() -> bytes:
    return encoded("missed", Empty())


def ping() -> bytes:
    return encoded("ping", Empty())


def job_events(controller: Controller, numbers: list[int]) -> Iterator[tuple[Job, bytes]]:
    """The jobs that still exist, as they are now."""
    viewer = Viewer(controller)
    for job in controller.jobs(numbers):
        yield job, encoded("job", viewer.job(job))


def gpu_events(controller: Controller, node: str | None = None) -> list[bytes]:
    views: list[Any] = gpu_views(controller, node=None if node is None else NodeName(node))
    return [encoded("gpu", view) for view in views]


def queue_event(controller: Controller) -> bytes:
    return encoded("queue", queue_view(controller))
