"""Ignore foreign processes, so that they do not keep jobs off a GPU."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus.gpus import IgnoreAnswer, Ignored, IgnoredList, IgnoredOrigin, IgnoreRequest
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.controller.gpus.ignored import SETTING
from tarmac.controller.requests.node_choice import node_of_process
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.table import SETTINGS
from tarmac.core.model.ids import NodeName
from tarmac.nodes.facts import describe_processes
from tarmac.refusal import conflict, invalid, not_found

if TYPE_CHECKING:
    from tarmac.controller.settings.settings import Settings
    from tarmac.core.state import State


NAME = "ignore_processes"


async def ignore_process(context: Context, body: IgnoreRequest) -> IgnoreAnswer:
    """Ignore a process: by pid until it ends, or by program permanently (setting `ignore_processes`)."""
    if body.pid is None and body.command is None:
        raise invalid("process.none_named")
    if body.pid is not None and body.command is not None:
        raise invalid("process.pid_and_program")
    if body.off and (body.pid is not None or body.forget):
        raise invalid("process.off_is_for_programs")
    controller = context.controller
    if body.pid is not None:
        return await _ignore_pid(context, body, body.pid)
    if not context.is_carried_out:
        await _ignore_program(context, str(body.command), body)
    return IgnoreAnswer(ignored=[*controller.settings.in_force.ignore_processes])


async def _ignore_pid(context: Context, body: IgnoreRequest, pid: int) -> IgnoreAnswer:
    controller = context.controller
    ignored, node = controller.ignored, _node(controller, body, pid)
    known = dict(ignored.starts_on(node))
    facts = await describe_processes(controller.fleet, node, [*known, pid])
    alive = {process.pid: process.start_time for process in facts.processes}

    def plan(_: State) -> Decision[IgnoreAnswer]:
        """Other requests may have changed what is ignored while the agent was asked."""
        after = ignored.copy()
        after.discard(node, known.items() - alive.items())
        if body.forget:
            if (start := after.starts_on(node).get(pid)) is None:
                raise not_found("process.pid_not_ignored", pid=pid, ignored=after.pids())
            after.discard(node, {(pid, start)})
        elif pid not in alive:
            raise not_found("process.unknown", pid=pid)
        else:
            after.add(node, facts.boot_id, pid, alive[pid])
        return Decision(
            answer=IgnoreAnswer(ignored=[*map(str, after.pids())]),
            settings={SETTING: after.text()},
            install=lambda: ignored.replace_with(after),
        )

    answer = await context.decide(plan)
    controller.readings.refresh()
    return answer


def _node(controller: Controller, body: IgnoreRequest, pid: int) -> NodeName:
    """Where it is ignored, to take that back; else where it runs."""
    known = [name for name in controller.state.nodes if pid in controller.ignored.starts_on(name)]
    if body.forget and body.node is None and len(known) == 1:
        return known[0]
    return node_of_process(controller, body.node, pid).name


async def _ignore_program(context: Context, program: str, body: IgnoreRequest) -> None:
    if "," in program:
        raise invalid("process.program_with_comma", program=program)

    def text_after(settings: Settings) -> str | None:
        before, base = settings.in_force.ignore_processes, settings.without_live(NAME)
        is_switched_off = program in base and program not in before
        if (body.forget or body.off) and not (body.forget and is_switched_off):  # `forget` undoes `off`, too
            _refuse_undoing(program, before, base, off=body.off)
            wanted = {*before} - {program}
        else:
            wanted = {*before, program}
        listed = dict.fromkeys((*base, *before, program))
        programs = tuple(name for name in listed if name in wanted)
        parsed(SETTINGS[NAME], programs)
        # Back at the configured value, the live setting is dropped and the config file counts again.
        return None if programs == base else ",".join(programs)

    await context.controller.change_setting(NAME, text_after, context.key)


def _refuse_undoing(program: str, before: tuple[str, ...], base: tuple[str, ...], *, off: bool) -> None:
    """`forget` undoes what a user added. A default is switched off only if that is asked for."""
    if program not in before:
        pattern = next((name for name in before if fnmatchcase(program, name)), None)
        if pattern is not None:
            raise conflict("process.matches_pattern", program=program, pattern=pattern, is_default=pattern in base)
        raise not_found("process.program_not_ignored", program=program, ignored=before)
    if program in base and not off:
        raise conflict("process.ignored_by_default", program=program)


async def list_ignored(context: Context) -> IgnoredList:
    """The programs and processes that do not count as use of a GPU, and where each comes from."""
    controller = context.controller
    settings = controller.settings
    in_force, base = settings.in_force.ignore_processes, settings.without_live(NAME)
    configured: IgnoredOrigin = "config" if NAME in settings.config else "default"
    programs = [Ignored(program=name, origin=configured, off=name not in in_force) for name in base]
    programs += [Ignored(program=name, origin="user") for name in in_force if name not in base]
    pids = [
        Ignored(pid=pid, node=name, origin="user")
        for name in sorted(controller.state.nodes)
        for pid in sorted(controller.ignored.starts_on(name))
    ]
    return IgnoredList(ignored=[*programs, *pids])
