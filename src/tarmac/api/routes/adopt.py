"""Adopt a process that was started by hand: check its owner, read its command, and book its GPUs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.routes.gpus import gpus_named, node_of
from tarmac.api.schemas.jobs import AdoptAnswer, AdoptRequest
from tarmac.controller.decision import Decision
from tarmac.controller.log_paths import ADOPTED
from tarmac.core.events import ProcessAdopted
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.job import JobSpec, Request
from tarmac.refusal import Refused, conflict, invalid, not_allowed, not_found, unavailable
from tarmac.store.rows import pack_environment

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller
    from tarmac.core.model.node import Node
    from tarmac.nodes.reports import GpuProcess

WORDLESS_LOOKS, LOOK_AGAIN_S = 50, 0.01


async def adopt(context: Context, body: AdoptRequest) -> AdoptAnswer:
    """Turn a running process into a job that is watched until it ends. Only the owner of the process may do this."""
    controller = context.controller
    node = node_of(controller)
    if not node.is_connected:
        raise unavailable("agent.unreachable")
    _check_owner(body.pid)
    command = await _command(body.pid)  # before the GPUs are checked: no job may get one in between
    _refuse_known(controller, body.pid)
    process = _on_gpus(controller, body.pid)
    gpus = _wanted(node, body.gpus) if body.gpus is not None else tuple(uuid for uuid, _ in process)
    for uuid in gpus:
        if held := node.holders(uuid) or node.mig_relative_holders(node.gpus[uuid]):
            raise conflict("adopt.gpu_held", index=node.gpus[uuid].index, job=held[0])
    digest, packed = pack_environment({})
    spec = _spec(body, context.caller.name, digest, len(gpus), command)
    event = ProcessAdopted(spec=spec, node=node.name, pid=body.pid, gpus=gpus)
    number = await controller.engine.decide(
        lambda state: Decision(answer=state.next_id, events=[event], environments={digest: packed})
    )
    return AdoptAnswer(id=number)


def _check_owner(pid: int) -> None:
    if pid == 1:
        raise invalid("adopt.init")
    try:
        owner = os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:
        raise not_found("process.unknown", pid=pid) from None
    if owner != os.getuid() and os.getuid() != 0:
        raise not_allowed("adopt.not_owner", pid=pid)


def _refuse_known(controller: Controller, pid: int) -> None:
    """Check processes without a GPU as well: the agent would refuse them, but only after the job got its id."""
    for job in controller.state.jobs.values():
        if pid in (getattr(job.status, "pid", None), getattr(job.status, "adopted_pid", None)):
            raise _is_a_job(pid, job.id)


def _is_a_job(pid: int, job: int | None) -> Refused:
    return conflict("adopt.is_a_job", pid=pid, job=job)


def _on_gpus(controller: Controller, pid: int) -> list[tuple[GpuUuid, GpuProcess]]:
    found = [
        (GpuUuid(reading.uuid), process)
        for readings in controller.readings.latest.values()
        for reading in readings
        for process in reading.processes
        if process.pid == pid
    ]
    if any(process.job in controller.state.jobs for _, process in found):
        raise _is_a_job(pid, found[0][1].job)
    return found


async def _command(pid: int) -> tuple[str, ...]:
    """Its arguments. During an exec there are none for a moment; a process that never has any is called by its name."""
    try:
        for _ in range(WORDLESS_LOOKS):
            if words := _told(pid, "cmdline").rstrip("\0"):
                return tuple(words.split("\0"))
            await asyncio.sleep(LOOK_AGAIN_S)
        return (_told(pid, "comm").rstrip("\n"),)
    except OSError:
        raise _ended(pid) from None


def _told(pid: int, what: str) -> str:
    return Path(f"/proc/{pid}/{what}").read_text(errors="replace")


def _ended(pid: int) -> Refused:
    return not_found("adopt.ended", pid=pid)


def _spec(body: AdoptRequest, caller: str, environment: str, gpus: int, command: tuple[str, ...]) -> JobSpec:
    try:
        cwd = os.readlink(f"/proc/{body.pid}/cwd")
    except OSError:
        raise _ended(body.pid) from None
    return JobSpec(
        owner=caller,
        command=command,
        shell=None,
        cwd=cwd,
        umask=0o022,
        environment=environment,
        request=Request(gpus=gpus),
        name=body.name,
        tags=(ADOPTED,),
        stdout=os.devnull,  # its output goes where it went before
    )


def _wanted(node: Node, indices: list[int]) -> tuple[GpuUuid, ...]:
    return gpus_named(node, [str(index) for index in indices])
