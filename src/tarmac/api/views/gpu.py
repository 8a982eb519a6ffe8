"""GPUs as people and programs see them: what each does, who has it, and whether it can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.gpus.gpus import GpuProcess, GpuReservation, GpuView
from tarmac.api.views.job_fields import rounded, warnings_of
from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.foreign_processes import foreign_process_words
from tarmac.api.wording.phrases import in_own_words
from tarmac.api.wording.times import iso
from tarmac.controller.gpus.foreign_processes import is_ignored
from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.reservations import is_active
from tarmac.nodes.reports import GpuReading

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from tarmac.controller.controller import Controller
    from tarmac.core.model.gpu import Drain
    from tarmac.core.model.ids import JobId, NodeName
    from tarmac.core.model.queue import Reservation
    from tarmac.nodes import reports


def gpu_views(controller: Controller, *, node: NodeName | None = None) -> list[GpuView]:
    """Every GPU; of one node if it is given."""
    readings = controller.readings.latest
    nodes = dict.fromkeys((*readings, *controller.state.nodes)) if node is None else [node]
    reserved = _next_reservations(controller.state.reservations.values())
    return [
        _gpu(controller, name, reading, reserved.get((name, GpuUuid(reading.uuid))))
        for name in nodes
        for reading in (*readings.get(name, ()), *_unreported(controller, name))
    ]


def _next_reservations(reservations: Iterable[Reservation]) -> dict[tuple[NodeName, GpuUuid], Reservation]:
    """For each reserved GPU, the reservation that applies now, or the next one."""
    found: dict[tuple[NodeName, GpuUuid], Reservation] = {}
    for one in sorted(reservations, key=lambda one: (one.begins_at, one.id)):
        for uuid in one.gpus:
            found.setdefault((one.node, uuid), one)
    return found


def _unreported(controller: Controller, name: NodeName) -> list[GpuReading]:
    """GPUs that jobs hold and the agent does not report: it just started, or lost its history."""
    known = {reading.uuid for reading in controller.readings.of(name)}
    booked = {
        uuid: next(iter(holders.values()))
        for uuid, holders in controller.state.node(name).booked.items()
        if uuid not in known
    }
    health = say("gpu.unreported")
    return [GpuReading(index=gpu.index, uuid=uuid, make="", health=health) for uuid, gpu in booked.items()]


def _gpu(controller: Controller, name: NodeName, reading: GpuReading, reserved: Reservation | None) -> GpuView:
    node = controller.state.node(name)
    uuid = GpuUuid(reading.uuid)
    held = node.booked.get(uuid, {})
    drain = node.drains.get(uuid)
    use = node.uses.get(uuid)
    foreign = () if use is None else use.foreign_processes
    holding = {process.pid for process in foreign}
    return GpuView(
        node=name,
        index=node.last_index(uuid, reading.index),
        uuid=reading.uuid,
        model=reading.model,
        memory_total_bytes=reading.memory_total_bytes,
        memory_used_bytes=reading.memory_used_bytes,
        utilization=reading.utilization,
        temperature=reading.temperature,
        jobs=list(held),
        processes=[_process(controller, name, process, holding) for process in reading.processes],
        drained=drain is not None,
        drained_by=None if drain is None else drain.by,
        reason=None if drain is None else _drain_reason(controller, drain),
        power_w=reading.power_w,
        slots=node.slots.get(uuid, 1),
        booked_bytes=sum(gpu.memory_bytes or reading.memory_total_bytes for gpu in held.values()),
        make=reading.make,
        parent=reading.parent,
        health=in_own_words(reading.health),
        gone_since=iso(reading.gone_since),
        held=say("gpu.held", processes=foreign_process_words(foreign, controller.now())) if foreign else None,
        reserved=None if reserved is None else _reserved(controller, reserved),
        warnings=_warnings(controller, held),
        stale_s=rounded(controller.fleet.stale_s(name)),
    )


def _drain_reason(controller: Controller, drain: Drain) -> str | None:
    if drain.healthy_since is None:
        return in_own_words(drain.reason) if drain.by is None else drain.reason
    left_s = drain.healthy_since + controller.state.rules.healthy_s - controller.now()
    return say("gpu.recovering", reason=in_own_words(drain.reason), seconds=max(0, left_s))


def _reserved(controller: Controller, one: Reservation) -> GpuReservation:
    return GpuReservation(
        id=one.id,
        owner=one.owner,
        begins_at=str(iso(one.begins_at)),
        ends_at=str(iso(one.ends_at)),
        active=is_active(one, controller.now()),
    )


def _warnings(controller: Controller, holders: Iterable[JobId]) -> list[str]:
    """The warnings of the jobs that hold it, each with its job."""
    jobs = (controller.state.jobs.get(number) for number in holders)
    return [
        say("gpu.warning", job=job.id, warning=words)
        for job in jobs
        if job is not None
        for words in warnings_of(controller, job)
    ]


def _process(
    controller: Controller, node: NodeName, process: reports.GpuProcess, holding: Container[int]
) -> GpuProcess:
    is_ours = process.job in controller.state.jobs
    ignored = controller.ignored.starts_on(node)
    return GpuProcess(
        pid=process.pid,
        user=process.user,
        command=process.command,
        memory_bytes=process.memory_bytes,
        started_at=iso(process.started_at),
        job=process.job if is_ours else None,
        ignored=not is_ours and is_ignored(process, controller.settings, ignored),
        holds_gpu=process.pid in holding,
    )
