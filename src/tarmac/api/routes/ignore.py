"""Ignore foreign processes, so that they do not keep jobs off a GPU."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus import IgnoreAnswer, IgnoreRequest
from tarmac.controller.controller import Controller
from tarmac.controller.decision import Decision
from tarmac.controller.gpus.ignored import SETTING
from tarmac.controller.node_choice import node_of_process
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.table import SETTINGS
from tarmac.core.model.ids import NodeName
from tarmac.nodes.facts import describe_processes
from tarmac.refusal import invalid, not_found


async def ignore_process(context: Context, body: IgnoreRequest) -> IgnoreAnswer:
    """Ignore a process: by pid until it ends, or by program permanently (setting `ignore_processes`)."""
    if (body.pid is None) == (body.command is None):
        raise invalid("process.none_named")
    controller = context.controller
    if body.pid is not None:
        return IgnoreAnswer(ignored=await _ignore_pid(controller, body, body.pid))
    return IgnoreAnswer(ignored=await _ignore_program(controller, str(body.command), forget=body.forget))


async def _ignore_pid(controller: Controller, body: IgnoreRequest, pid: int) -> list[str]:
    ignored, node = controller.ignored, _node(controller, body, pid)
    facts = await describe_processes(controller.fleet, node, [*ignored.starts_on(node), pid])
    starts = {process.pid: process.start_time for process in facts.processes}
    ignored.keep_alive_only(node, starts.items())
    if body.forget and pid not in ignored.starts_on(node):
        raise not_found("process.pid_not_ignored", pid=pid, ignored=ignored.pids())
    if body.forget:
        ignored.discard(node, pid)
    elif pid not in starts:
        raise not_found("process.unknown", pid=pid)
    else:
        ignored.add(node, facts.boot_id, pid, starts[pid])
    await controller.engine.decide(lambda _: Decision(answer=None, settings={SETTING: ignored.text()}))
    controller.readings.refresh()
    return [str(pid) for pid in ignored.pids()]


def _node(controller: Controller, body: IgnoreRequest, pid: int) -> NodeName:
    """Where it is ignored, to take that back; else where it runs."""
    known = [name for name in controller.state.nodes if pid in controller.ignored.starts_on(name)]
    if body.forget and body.node is None and len(known) == 1:
        return known[0]
    return node_of_process(controller, body.node, pid).name


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
