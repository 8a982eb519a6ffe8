"""Processes from outside that are to hold no GPU. What would change nothing, or everything, is refused."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.gpus import IgnoreAnswer, IgnoreRequest
from tarmac.controller.engine import Engine, PendingCommit
from tarmac.controller.gpus.ignored import KEPT_AS
from tarmac.controller.settings.settings import SETTINGS, parsed
from tarmac.errors import NotFound, UserError


async def ignore_process(context: Context, body: IgnoreRequest) -> IgnoreAnswer:
    """Let a process count as nothing: by pid until it ends, by program for good (`ignore_processes`)."""
    if (body.pid is None) == (body.command is None):
        raise UserError("which process?", hint="give either its pid or the name of its program")
    engine = context.engine
    if body.pid is not None:
        return IgnoreAnswer(ignored=await _ignore_pid(engine, body.pid, forget=body.forget))
    return IgnoreAnswer(ignored=await _ignore_program(engine, str(body.command), forget=body.forget))


async def _ignore_pid(engine: Engine, pid: int, *, forget: bool) -> list[str]:
    pids = engine.board.ignored_pids
    pids.prune()
    if forget and pid not in pids:
        raise NotFound(f"pid {pid} is not ignored", hint=f"ignored are: {', '.join(map(str, pids)) or 'no pids'}")
    if forget:
        pids.discard(pid)
    elif not pids.add(pid):
        raise NotFound(f"no process {pid}", hint="`tarmac gpus` lists those on the GPUs")
    await engine.commit(PendingCommit(events=[], settings={KEPT_AS: pids.text()}))
    engine.board.refresh()
    return [str(pid) for pid in pids]


async def _ignore_program(engine: Engine, program: str, *, forget: bool) -> list[str]:
    if "," in program:
        raise UserError(f"{program} is no program's name: it has a comma", hint="give one program at a time")
    before = engine.settings["ignore_processes"]
    if forget and program not in before:
        raise NotFound(f"{program} is not ignored", hint=f"ignored are: {', '.join(before) or 'no programs'}")
    programs = tuple(name for name in before if name != program)
    programs = programs if forget else (*programs, program)
    parsed(SETTINGS["ignore_processes"], programs)
    # As it was before anybody changed it is no change any more: the config file counts again.
    is_as_before = programs == engine.settings.without_live("ignore_processes")
    await engine.set("ignore_processes", None if is_as_before else ",".join(programs))
    return [*programs]
