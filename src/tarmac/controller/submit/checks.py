"""The checks of a submit. All jobs are checked before any of them is queued."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.accounts.memory import AUTO, Kind, memory_to_book
from tarmac.controller.notify.asked import Asked, asked
from tarmac.controller.submit.dependencies import refuse_circle_of_new
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.controller.submit.request import request_fields, spec_fields
from tarmac.controller.submit.retries import retries_of
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.policy.feasibility import lack
from tarmac.refusal import invalid
from tarmac.shared import fill
from tarmac.shared.end_warning import UNCATCHABLE, parse_warning

if TYPE_CHECKING:
    from tarmac.controller.accounts.memory import PastMemory
    from tarmac.controller.notify.targets import Targets
    from tarmac.controller.submit.dependencies import Dependencies
    from tarmac.controller.submit.environment import Environments
    from tarmac.controller.submit.request import JobRequest, SubmitRequest
    from tarmac.core.model.job import After
    from tarmac.core.model.names import Tier
    from tarmac.core.state import State

LONGEST_TEXT_BYTES = 131_071  # MAX_ARG_STRLEN of Linux, without its closing zero
MOST_TEXT_BYTES = 2_000_000  # about what Linux allows for arguments and environment together


class Defaults(NamedTuple):
    """The settings that apply where a job does not say otherwise."""

    grace_s: float
    retries: int


def checked_specs(
    request: SubmitRequest,
    *,
    owner: str,
    environments: Environments,
    defaults: Defaults,
    state: State,
    dependencies: Dependencies,
    past: PastMemory,
    targets: Targets,
) -> tuple[JobSpec, ...]:
    check = _Checks(state, dependencies, past, targets, owner)
    world = [f"{name}={value}" for name, value in request.environment.items()]
    _refuse_nul("environment", world)
    _refuse_too_long(world)
    specs = tuple(
        _spec(request, job, check, owner, environments, defaults, number if request.array else None)
        for number, job in enumerate(request.jobs)
    )
    refuse_circle_of_new(specs)
    return specs


def _spec(
    submit: SubmitRequest,
    job: JobRequest,
    check: _Checks,
    owner: str,
    environments: Environments,
    defaults: Defaults,
    index: int | None,
) -> JobSpec:
    if (job.command is None) == (job.shell is None):
        raise invalid("submit.no_command")
    cwd = job.cwd or submit.cwd
    if job.command is not None and not job.command[0]:
        raise invalid("submit.command_empty")
    if job.log is not None and (job.stdout is not None or job.stderr is not None):
        raise invalid("submit.log_and_streams")
    _refuse_nul("command", job.command or (job.shell or "",))
    _refuse_too_long(job.command or (job.shell or "",))
    if job.env:
        _refuse_nul("environment", job.env)
        _refuse_too_long(job.env)
    if job.fill:
        _refuse_unknown_placeholders(job.command or (job.shell or "",))
    _refuse_nul("labels", (job.name or "", job.project or "", *job.tags))
    check.directory(cwd)
    _refuse_bad_signals(job)
    refuse_requeue_without_limit(job)
    if job.max_running is not None and index is None:
        raise invalid("submit.max_running_without_array")
    retries = retries_of(job, defaults.retries)
    stdout = job.log or job.stdout
    for path in (stdout, job.stderr):
        if path is not None:
            check.output(path)
    notify = check.notify(job.notify, job.notify_on)
    return JobSpec(
        owner=owner,
        command=job.command,
        shell=job.shell,
        cwd=cwd,
        umask=submit.umask,
        environment=environments.hash_of(job.env),
        request=check.request(check.booked(_request(job, check.gpus), job, owner)),
        stdout=stdout,
        stderr=job.stderr,
        grace_s=defaults.grace_s if job.grace_s is None else job.grace_s,
        retries=retries.times,
        retry_on=retries.on,
        after=check.after(job.after),
        index=index,
        notify=notify.targets,
        notify_on=notify.events,
        **spec_fields(job),
    )


def _request(job: JobRequest, names: GpuNames) -> Request:
    pinned, excluded = names.found(job.gpus_on), names.found(job.exclude_gpus)
    if len(pinned.nodes) > 1:
        raise invalid("gpu.pinned_to_several_nodes", nodes=pinned.nodes)
    gpus = (len(pinned.gpus) or 1) if job.gpus is None else job.gpus
    if job.gpus_on and gpus != len(pinned.gpus):
        raise invalid("submit.pinned_count", gpus=gpus, pinned=len(pinned.gpus))
    if set(pinned.gpus) & set(excluded.gpus):
        raise invalid("submit.pinned_and_excluded")
    is_shared = job.gpu_memory_bytes is not None or job.gpu_share is not None
    if job.gpu_memory_bytes is not None and job.gpu_share is not None:
        raise invalid("submit.two_shares")
    if is_shared and gpus == 0:
        raise invalid("submit.share_of_no_gpu")
    passed = request_fields(job)
    if job.gpu_memory_bytes == AUTO:
        del passed["gpu_memory_bytes"]
    return Request(
        gpus=gpus,
        gpu_share=None if job.gpu_share == 1 else job.gpu_share,
        gpu_models=tuple(model.lower() for model in job.gpu_models),
        gpus_on=pinned.gpus,
        exclude_gpus=excluded.gpus,
        **passed,
    )


class _Checks:
    """Remembers what passed: an array requests the same thing a hundred thousand times."""

    def __init__(
        self, state: State, dependencies: Dependencies, past: PastMemory, targets: Targets, owner: str
    ) -> None:
        self.gpus = GpuNames(state.nodes.values())
        self._state = state
        self._dependencies = dependencies
        self._past = past
        self._targets = targets
        self._owner = owner
        self._notify: dict[Any, Asked] = {}
        self._after: dict[tuple[str, ...], tuple[After, ...]] = {(): ()}
        self._directories: set[str] = set()
        self._requests: dict[Request, Request] = {}
        self._outputs: set[str] = set()

    def directory(self, path: str) -> None:
        if path in self._directories:
            return
        _refuse_nul("cwd", (path,))
        if not os.path.isabs(path):
            raise invalid("submit.cwd_not_absolute", path=path)
        self._directories.add(path)

    def after(self, words: tuple[str, ...]) -> tuple[After, ...]:
        known = self._after.get(words)
        if known is None:
            known = self._after[words] = self._dependencies.read(words)
        return known

    def booked(self, request: Request, job: JobRequest, owner: str) -> Request:
        """With the memory that `auto` stands for."""
        if job.gpu_memory_bytes != AUTO:
            return request
        peaks = self._past.peaks(Kind(owner, job.name, job.shell if job.command is None else job.command))
        return replace(request, gpu_memory_bytes=memory_to_book(peaks, request, self._state))

    def notify(self, targets: tuple[str, ...] | None, events: tuple[str, ...]) -> Asked:
        known = self._notify.get((targets, events))
        if known is None:
            known = self._notify[targets, events] = asked(self._targets, self._owner, targets, events)
        return known

    def request(self, request: Request) -> Request:
        known = self._requests.get(request)
        if known is None:
            known = self._requests[request] = request
            lacking = lack(self._state, request)
            if lacking is not None:
                raise invalid("submit.infeasible", lack=lacking, nodes=len(self._state.nodes))
        return known

    def output(self, path: str) -> None:
        if path in self._outputs:
            return
        _refuse_nul("log path", (path,))
        if not os.path.isabs(path):
            raise invalid("submit.log_not_absolute", path=path)
        self._outputs.add(path)


def _refuse_too_long(texts: tuple[str, ...] | list[str]) -> None:
    """Refuse at submit what the kernel would refuse at the start, perhaps a day later."""
    longest = max((len(text.encode()) for text in texts), default=0)
    if longest > LONGEST_TEXT_BYTES:
        raise invalid("submit.text_too_long", size=longest, most=LONGEST_TEXT_BYTES)
    if sum(map(len, texts)) > MOST_TEXT_BYTES:
        raise invalid("submit.texts_too_long", most=MOST_TEXT_BYTES)


def _refuse_bad_signals(job: JobRequest) -> None:
    if job.signal in UNCATCHABLE:
        raise invalid("submit.signal_uncatchable", signal=job.signal)
    if job.warn is not None:
        refuse_bad_warning(job.warn, job.time_limit_s, job.tier)


def refuse_bad_warning(text: str, limit_s: float | None, tier: Tier) -> None:
    """A job without a limit can be warned of a preemption only."""
    try:
        warning = parse_warning(text)
    except ValueError as error:
        raise invalid("submit.warn_malformed", text=text, trouble=str(error)) from None
    if limit_s is None and tier != "preemptible":
        raise invalid("submit.warn_without_limit", text=text)
    if limit_s is not None and warning.before_s >= limit_s:
        raise invalid("submit.warn_too_early", text=text, limit_s=limit_s)


def refuse_requeue_without_limit(job: JobRequest | JobSpec) -> None:
    """A preemptible job may have no limit: it is requeued when it is preempted."""
    if job.requeue and job.time_limit_s is None and job.tier != "preemptible":
        raise invalid("submit.requeue_without_limit")


def _refuse_unknown_placeholders(texts: tuple[str, ...]) -> None:
    found = fill.trouble(texts)
    if found is not None and found.placeholder is None:
        raise invalid("submit.fill_single_brace", text=found.text)
    if found is not None:
        raise invalid("submit.fill_unknown", placeholder=found.placeholder, text=found.text)


def _refuse_nul(field: str, texts: tuple[str, ...] | list[str]) -> None:
    if any("\0" in text for text in texts):
        raise invalid("submit.nul", field=field)
