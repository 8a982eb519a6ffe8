"""What is checked before a job is accepted. All jobs of a submit are looked at before any is queued."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.controller.submit.dependencies import refuse_circle_of_new
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.controller.submit.refusals import refusal_message
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.policy.feasibility import lack
from tarmac.errors import UserError

if TYPE_CHECKING:
    from tarmac.controller.submit.dependencies import Dependencies
    from tarmac.controller.submit.request import JobRequest, SubmitRequest
    from tarmac.core.model.job import After
    from tarmac.core.state import State

LONGEST_TEXT_BYTES = 131_071  # MAX_ARG_STRLEN of Linux, less its closing zero
UNCATCHABLE = {9, 19}  # KILL and STOP of Linux
MOST_TEXT_BYTES = 2_000_000  # Linux grants about that much to arguments and environment together


def checked_specs(
    request: SubmitRequest,
    *,
    owner: str,
    environment: str,
    default_grace_s: float,
    state: State,
    dependencies: Dependencies,
) -> tuple[JobSpec, ...]:
    check = _Checks(state, dependencies)
    world = [f"{name}={value}" for name, value in request.environment.items()]
    _refuse_nul("environment", world)
    _refuse_too_long(world)
    specs = tuple(
        _spec(request, job, check, owner, environment, default_grace_s, number if request.array else None)
        for number, job in enumerate(request.jobs)
    )
    refuse_circle_of_new(specs)
    return specs


def _spec(
    submit: SubmitRequest,
    job: JobRequest,
    check: _Checks,
    owner: str,
    environment: str,
    default_grace_s: float,
    index: int | None,
) -> JobSpec:
    if (job.command is None) == (job.shell is None):
        raise UserError("a job needs a command", hint="give either `command` (a list of words) or `shell` (a string)")
    cwd = job.cwd or submit.cwd
    if job.command is not None and not job.command[0]:
        raise UserError("the command is empty", hint="give the program to run: tarmac add -- python train.py")
    if job.log is not None and (job.stdout is not None or job.stderr is not None):
        raise UserError("log goes with neither stdout nor stderr", hint="log merges both; stdout and stderr part them")
    _refuse_nul("command", job.command or (job.shell or "",))
    _refuse_too_long(job.command or (job.shell or "",))
    _refuse_nul("name, project and tags", (job.name or "", job.project or "", *job.tags))
    check.folder(cwd)
    if job.signal in UNCATCHABLE:
        raise UserError(
            f"signal {job.signal}: no process can catch that one", hint="to be killed at once: --grace 0 (grace_s: 0)"
        )
    if job.max_running is not None and index is None:
        raise UserError("max_running is for arrays, and this is none", hint='leave it out, or say "array": true')
    stdout = job.log or job.stdout
    if stdout is not None and stdout == job.stderr:
        raise UserError(f"stdout and stderr are the same file {stdout}", hint="use --log to merge them")
    for path in (stdout, job.stderr):
        if path is not None:
            check.output(path, append=job.append)
    return JobSpec(
        owner=owner,
        command=job.command,
        shell=job.shell,
        cwd=cwd,
        umask=submit.umask,
        environment=environment,
        request=check.request(_request(job, check.gpus)),
        name=job.name,
        project=job.project,
        tags=job.tags,
        priority=job.priority,
        stdout=stdout,
        stderr=job.stderr,
        append=job.append,
        grace_s=default_grace_s if job.grace_s is None else job.grace_s,
        signal=job.signal,
        tier=job.tier,
        time_limit_s=job.time_limit_s,
        begin_at=job.begin_at,
        after=check.after(job.after),
        max_running=job.max_running,
        index=index,
    )


def _request(job: JobRequest, names: GpuNames) -> Request:
    pinned, excluded = names.found(job.gpus_on), names.found(job.exclude_gpus)
    gpus = (pinned.most_on_a_node or 1) if job.gpus is None else job.gpus
    if job.gpus_on and gpus != pinned.most_on_a_node:
        raise UserError(
            f"{gpus} GPUs asked, but pinned to {pinned.most_on_a_node}", hint="leave -g out, or name that many GPUs"
        )
    if set(pinned.gpus) & set(excluded.gpus):
        raise UserError("a GPU is both asked for and excluded", hint="leave it out of --exclude-gpus")
    is_shared = job.gpu_memory_bytes is not None or job.gpu_share is not None
    if job.gpu_memory_bytes is not None and job.gpu_share is not None:
        raise UserError("gpu_memory_bytes and gpu_share say the same thing", hint="give one of --gpu-mem, --gpu-share")
    if is_shared and gpus == 0:
        raise UserError("a part of a GPU asked, and no GPU", hint="leave -g out, or --gpu-mem and --gpu-share")
    return Request(
        gpus=gpus,
        gpu_memory_bytes=job.gpu_memory_bytes,
        gpu_share=None if job.gpu_share == 1 else job.gpu_share,
        gpu_models=tuple(model.lower() for model in job.gpu_models),
        min_gpu_memory_bytes=job.min_gpu_memory_bytes or 0,
        gpus_on=pinned.gpus,
        exclude_gpus=excluded.gpus,
        idle_below=job.idle_below,
        memory_bytes=job.memory_bytes or 0,
        cpus=job.cpus or 0,
    )


class _Checks:
    """Remembers what was found good: an array asks the same a hundred thousand times."""

    def __init__(self, state: State, dependencies: Dependencies) -> None:
        self.gpus = GpuNames(state.nodes.values())
        self._state = state
        self._dependencies = dependencies
        self._after: dict[tuple[str, ...], tuple[After, ...]] = {(): ()}
        self._folders: set[str] = set()
        self._requests: dict[Request, Request] = {}
        self._outputs: set[str] = set()

    def folder(self, path: str) -> None:
        if path in self._folders:
            return
        _refuse_nul("cwd", (path,))
        if not os.path.isabs(path):
            raise UserError(f"cwd {path} is not absolute", hint="give the whole path of the working folder")
        if not os.path.isdir(path):
            raise UserError(f"cwd {path} is no folder", hint="make it first, or give another with --cwd")
        self._folders.add(path)

    def after(self, words: tuple[str, ...]) -> tuple[After, ...]:
        known = self._after.get(words)
        if known is None:
            known = self._after[words] = self._dependencies.read(words)
        return known

    def request(self, request: Request) -> Request:
        known = self._requests.get(request)
        if known is None:
            known = self._requests[request] = request
            lacking = lack(self._state, request)
            if lacking is not None:
                raise refusal_message(lacking)
        return known

    def output(self, path: str, *, append: bool) -> None:
        _refuse_nul("log path", (path,))
        folder = os.path.dirname(path)
        if not os.path.isabs(path):
            raise UserError(f"log path {path} is not absolute", hint="give the whole path")
        if not os.path.isdir(folder):
            raise UserError(f"log path {path}: there is no folder {folder}", hint=f"mkdir -p {folder}")
        if os.path.isdir(path):
            raise UserError(f"log path {path} is a folder", hint="give the name of a file in it")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"log path {path}: nothing can be written into {folder}", hint="choose another folder")
        if not append and (path in self._outputs or (os.path.exists(path) and os.path.getsize(path) > 0)):
            raise UserError(
                f"{path} exists already and is not overwritten", hint="add --append, or choose another name"
            )
        self._outputs.add(path)


def _refuse_too_long(texts: tuple[str, ...] | list[str]) -> None:
    """What the kernel would not take is known before the job waits for a day."""
    longest = max((len(text.encode()) for text in texts), default=0)
    if longest > LONGEST_TEXT_BYTES:
        raise UserError(
            f"an argument or variable has {longest} bytes; Linux takes at most {LONGEST_TEXT_BYTES}",
            hint="write it to a file, and give the job the name of the file",
        )
    if sum(map(len, texts)) > MOST_TEXT_BYTES:
        raise UserError(
            f"arguments or environment are longer than {MOST_TEXT_BYTES} bytes in all",
            hint="write them to a file, and give the job the name of the file",
        )


def _refuse_nul(what: str, texts: tuple[str, ...] | list[str]) -> None:
    if any("\0" in text for text in texts):
        raise UserError(f"{what}: contains a NUL character", hint="no program can be given one; remove it")
