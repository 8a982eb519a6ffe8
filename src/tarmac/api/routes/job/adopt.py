"""Adopt a process that was started by hand: check its owner, read its command, and book its GPUs."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.job.jobs import AdoptAnswer, AdoptRequest
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus.selection import gpus_named
from tarmac.controller.notify.choice import NotificationChoice, choice_of
from tarmac.controller.requests.node_choice import node_of_process
from tarmac.core.events import ProcessAdopted
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.status import holds_booking
from tarmac.nodes.facts import describe_processes
from tarmac.refusal import Refused, conflict, invalid, not_allowed, not_found

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.ids import NodeName
    from tarmac.core.model.node import Node
    from tarmac.core.state import State
    from tarmac.nodes.facts import Process
    from tarmac.nodes.fleet import Fleet

TAG = "adopted"  # to list these jobs with; nothing depends on it
LOOKS, LOOK_AGAIN_S = 50, 0.01  # for a command


async def adopt(context: Context, body: AdoptRequest) -> AdoptAnswer:
    """Turn a running process into a job that is watched until it ends. Only its owner and root may do this."""
    controller = context.controller
    if body.pid == 1:
        raise invalid("adopt.init")
    name = node_of_process(controller, body.node, body.pid).name
    process = await _describe(controller.fleet, name, body.pid, context.caller.uid)
    digest, stored = context.controller.store.pack_environment({})

    def plan(state: State) -> Decision[AdoptAnswer]:
        node = state.node(name)
        gpus = _gpus(controller, node, body)
        _refuse_held(node, gpus)
        notify = choice_of(controller.targets, context.caller.name, None, ())
        spec = _spec(body, process, context.caller.name, digest, len(gpus), notify)
        event = ProcessAdopted(
            spec=spec, node=name, pid=body.pid, gpus=gpus, start_time=process.start_time, uid=process.uid
        )
        return Decision(answer=AdoptAnswer(id=state.next_id), events=[event], environments={digest: stored})

    return await context.decide(plan)


async def _describe(fleet: Fleet, node: NodeName, pid: int, caller_uid: int) -> Process:
    """Ask again while it has no command: for a moment, a process that becomes another program has none."""
    for look in range(LOOKS):
        facts = await describe_processes(fleet, node, [pid])
        if not facts.processes:
            raise not_found("adopt.ended", pid=pid) if look else not_found("process.unknown", pid=pid)
        (process,) = facts.processes
        if not {facts.agent_uid, caller_uid} <= {0, process.uid}:
            raise not_allowed("adopt.not_owner", pid=pid)
        if process.cwd is None:
            raise not_found("adopt.ended", pid=pid)
        if process.command:
            break
        await asyncio.sleep(LOOK_AGAIN_S)
    return process


def _gpus(controller: Controller, node: Node, body: AdoptRequest) -> tuple[GpuUuid, ...]:
    """Those that were named, or else those the process is seen on. Refuses a process that belongs to a job."""
    for job in controller.state.jobs.values():
        booking = holds_booking(job.status)
        pids = (getattr(job.status, "pid", None), getattr(job.status, "adopted_pid", None))
        if booking is not None and node.name in booking.nodes and body.pid in pids:
            raise _is_a_job(body.pid, job.id)
    seen = [
        (GpuUuid(reading.uuid), process.job)
        for reading in controller.readings.of(node.name)
        for process in reading.processes
        if process.pid == body.pid
    ]
    for _, number in seen:
        if number in controller.state.jobs:
            raise _is_a_job(body.pid, number)
    if body.gpus is None:
        return tuple(uuid for uuid, _ in seen)
    return gpus_named([node], [str(index) for index in body.gpus]).get(node.name, ())


def _refuse_held(node: Node, gpus: tuple[GpuUuid, ...]) -> None:
    for uuid in gpus:
        if held := node.holders(uuid) or node.mig_relative_holders(node.gpus[uuid]):
            raise conflict("adopt.gpu_held", index=node.gpus[uuid].index, job=held[0])


def _is_a_job(pid: int, job: int | None) -> Refused:
    return conflict("adopt.is_a_job", pid=pid, job=job)


def _spec(
    body: AdoptRequest, process: Process, caller: str, environment: str, gpus: int, notify: NotificationChoice
) -> JobSpec:
    return JobSpec(
        owner=caller,
        command=tuple(process.command) or (process.name,),
        shell=None,
        cwd=process.cwd or os.sep,
        umask=0o022,
        environment=environment,
        request=Request(gpus=gpus),
        name=body.name,
        tags=(TAG,),
        notify=notify.targets,
        notify_on=notify.events,
        stdout=os.devnull,  # its output goes where it went before
    )
