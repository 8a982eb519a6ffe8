"""Ignore foreign processes, so that they do not keep jobs off a GPU."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.routes.gpus import node_of
from tarmac.api.schemas.gpus import IgnoreAnswer, IgnoreRequest
from tarmac.controller.controller import Controller
from tarmac.controller.decision import Decision
from tarmac.controller.gpus.ignored import SETTING
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.table import SETTINGS
from tarmac.refusal import invalid, not_found
from tarmac.shared import proc


async def ignore_process(context: Context, body: IgnoreRequest) -> IgnoreAnswer:
    """Ignore a process: by pid until it ends, or by program permanently (setting `ignore_processes`)."""
    if (body.pid is None) == (body.command is None):
        raise invalid("process.none_named")
    controller = context.controller
    if body.pid is not None:
        return IgnoreAnswer(ignored=await _ignore_pid(controller, body.pid, forget=body.forget))
    return IgnoreAnswer(ignored=await _ignore_program(controller, str(body.command), forget=body.forget))


async def _ignore_pid(controller: Controller, pid: int, *, forget: bool) -> list[str]:
    ignored, node = controller.ignored, node_of(controller).name
    known = ignored.starts_on(node)
    ignored.keep_alive_only(node, {(pid, start) for pid, start in known.items() if proc.is_same(pid, start)})
    if forget and pid not in ignored.starts_on(node):
        raise not_found("process.pid_not_ignored", pid=pid, ignored=list(ignored.pids()))
    stat, boot_id = proc.read_stat(pid), controller.fleet.boot_id(node)
    if forget:
        ignored.discard(node, pid)
    elif stat is None or boot_id is None:
        raise not_found("process.unknown", pid=pid)
    else:
        ignored.add(node, boot_id, pid, stat.start_time)
    await controller.engine.decide(lambda _: Decision(answer=None, settings={SETTING: ignored.text()}))
    controller.readings.refresh()
    return [str(pid) for pid in ignored.pids()]


async def _ignore_program(controller: Controller, program: str, *, forget: bool) -> list[str]:
    if "," in program:
        raise invalid("process.program_with_comma", program=program)
    before = controller.settings.in_force.ignore_processes
    if forget and program not in before:
        raise not_found("process.program_not_ignored", program=program, ignored=before)
    programs = tuple(name for name in before if name != program)
    programs = programs if forget else (*programs, program)
    parsed(SETTINGS["ignore_processes"], programs)
    # Back at the configured value, the live setting is dropped and the config file counts again.
    is_as_before = programs == controller.settings.without_live("ignore_processes")
    await controller.change_setting("ignore_processes", None if is_as_before else ",".join(programs))
    return [*programs]
