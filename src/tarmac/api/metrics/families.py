"""Every family of metrics: its name, its meaning, and how it is read from the controller.

Names follow Prometheus: base units (seconds, bytes, joules, ratios from 0 to 1), and `_total` for counters. Nothing
here walks the queue, so a scrape costs as much with a million waiting jobs as with none.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tarmac import __version__
from tarmac.api.metrics.exposition import Kind, Sample, bound_text
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.status import state_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tarmac.controller.accounts.counters import Holder
    from tarmac.controller.controller import Controller
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuReading


class Family(NamedTuple):
    name: str
    kind: Kind
    help: str
    read: Callable[[Controller], Iterable[Sample]]


def _one(read: Callable[[Controller], float]) -> Callable[[Controller], Iterable[Sample]]:
    return lambda controller: [Sample(read(controller))]


def _build(_: Controller) -> list[Sample]:
    return [Sample(1, {"version": __version__})]


def _jobs(controller: Controller) -> Iterator[Sample]:
    """Waiting jobs are counted at each change; those that hold a booking are few."""
    state = controller.state
    for owner, number in sorted(state.waiting_counts.of_owner.items()):
        if number:
            yield Sample(number, {"owner": owner, "state": "waiting"})
    found = Counter((job.spec.owner, state_name(job.status)) for job in state.booked_jobs())
    for (owner, name), number in sorted(found.items()):
        yield Sample(number, {"owner": owner, "state": name})


def _suspended(controller: Controller) -> list[Sample]:
    return [Sample(1, {"owner": owner}) for owner in sorted(controller.state.suspended)]


def _notifications(controller: Controller) -> list[Sample]:
    targets = controller.store.reader.outbox.targets()
    return [
        Sample(sum(one.waiting for one in targets), {"state": "waiting"}),
        Sample(sum(one.failed for one in targets), {"state": "undelivered"}),
    ]


def _submitted(controller: Controller) -> Iterator[Sample]:
    for owner, number in sorted(controller.usage.counters.submitted.items()):
        yield Sample(number, {"owner": owner})


def _ended(controller: Controller) -> Iterator[Sample]:
    for key, number in sorted(controller.usage.counters.ended.items()):
        yield Sample(number, key._asdict())


def _waits(controller: Controller) -> Iterator[Sample]:
    waits = controller.usage.counters.waits_s
    counts = waits.cumulative()
    for bound, number in zip((*waits.bounds, inf), counts, strict=True):
        yield Sample(number, {"le": bound_text(bound)}, "_bucket")
    yield Sample(waits.total, suffix="_sum")
    yield Sample(counts[-1], suffix="_count")


def _by_holder(sums: Mapping[Holder, float]) -> Iterator[Sample]:
    for holder, value in sorted(sums.items()):
        yield Sample(round(value, 3), holder._asdict())


def _nodes(controller: Controller) -> Iterator[Sample]:
    for session in controller.fleet:
        yield Sample(session.hello is not None and session.silent_s is None, {"node": session.name})


def _of_gpus(read: Callable[[Node, GpuReading], float | None]) -> Callable[[Controller], Iterable[Sample]]:
    """One sample for each GPU; none where the driver reports nothing."""

    def samples(controller: Controller) -> Iterator[Sample]:
        for name, readings in controller.readings.latest.items():
            node = controller.state.node(name)
            for reading in readings:
                value = None if reading.gone_since is not None else read(node, reading)
                if value is not None:
                    yield Sample(value, {"node": name, "gpu": str(reading.index), "uuid": reading.uuid})

    return samples


def _gpu_info(controller: Controller) -> Iterator[Sample]:
    for name, readings in controller.readings.latest.items():
        for one in readings:
            yield Sample(1, {"node": name, "gpu": str(one.index), "uuid": one.uuid, "model": one.model})


def _reserved(node: Node, reading: GpuReading) -> float:
    return round(min(1.0, sum(gpu.part for gpu in node.booked.get(GpuUuid(reading.uuid), {}).values())), 6)


def _foreign(node: Node, reading: GpuReading) -> float:
    use = node.uses.get(GpuUuid(reading.uuid))
    return 0 if use is None else len(use.foreign_processes)


FAMILIES = (
    Family("tarmac_build_info", "gauge", "The version of Tarmac. Always 1.", _build),
    Family("tarmac_uptime_seconds", "gauge", "How long the controller has been running.",
           _one(lambda controller: round(controller.uptime_s(), 3))),
    Family("tarmac_writable", "gauge", "1 if the state can be written; 0 if, for example, the disk is full.",
           _one(lambda controller: controller.degraded is None)),
    Family("tarmac_database_size_bytes", "gauge", "The size of the database.",
           _one(lambda controller: controller.store.size_bytes())),
    Family("tarmac_node_up", "gauge", "1 if the agent of the node answers.", _nodes),
    Family("tarmac_queue_paused", "gauge", "1 if the queue is paused.",
           _one(lambda controller: controller.state.mode.is_paused)),
    Family("tarmac_queue_draining", "gauge", "1 if the queue accepts no new jobs.",
           _one(lambda controller: controller.state.mode.is_draining)),
    Family("tarmac_owner_suspended", "gauge", "1 for each user whose jobs do not start, because the last ones failed.",
           _suspended),
    Family("tarmac_notifications", "gauge", "Notifications that wait, and those that could not be sent within a day.",
           _notifications),
    Family("tarmac_jobs", "gauge", "Jobs that have not ended. Waiting: queued or held; drafts do not count.", _jobs),
    Family("tarmac_jobs_submitted_total", "counter", "Jobs that were submitted.", _submitted),
    Family("tarmac_jobs_ended_total", "counter", "Jobs that ended, with the reason of a failure.", _ended),
    Family("tarmac_job_wait_seconds", "histogram",
           "Time from the submit of a job, or its begin time, to its first start.", _waits),
    Family("tarmac_gpu_held_seconds_total", "counter",
           "GPU time that jobs held, and that foreign processes used on GPUs that no job held.",
           lambda controller: _by_holder(controller.usage.counters.held_s)),
    Family("tarmac_gpu_used_seconds_total", "counter", "GPU time that was held, weighted by utilization.",
           lambda controller: _by_holder(controller.usage.counters.used_s)),
    Family("tarmac_gpu_energy_joules_total", "counter", "Energy of the GPUs while they were held.",
           lambda controller: _by_holder(controller.usage.counters.energy_j)),
    Family("tarmac_gpu_info", "gauge", "The model of the GPU. Always 1.", _gpu_info),
    Family("tarmac_gpu_utilization_ratio", "gauge", "How busy the GPU is.",
           _of_gpus(lambda _, one: None if one.utilization is None else one.utilization / 100)),
    Family("tarmac_gpu_memory_size_bytes", "gauge", "The memory of the GPU.",
           _of_gpus(lambda _, one: one.memory_total_bytes or None)),
    Family("tarmac_gpu_memory_used_bytes", "gauge", "The memory of the GPU that is in use.",
           _of_gpus(lambda _, one: one.memory_used_bytes)),
    Family("tarmac_gpu_temperature_celsius", "gauge", "The temperature of the GPU.",
           _of_gpus(lambda _, one: one.temperature)),
    Family("tarmac_gpu_power_watts", "gauge", "The power that the GPU draws.", _of_gpus(lambda _, one: one.power_w)),
    Family("tarmac_gpu_reserved_ratio", "gauge", "The part of the GPU that jobs hold.", _of_gpus(_reserved)),
    Family("tarmac_gpu_drained", "gauge", "1 if no new job starts on the GPU.",
           _of_gpus(lambda node, one: GpuUuid(one.uuid) in node.drains)),
    Family("tarmac_gpu_foreign_processes", "gauge", "Processes on the GPU that Tarmac did not start.",
           _of_gpus(_foreign)),
)  # fmt: skip
