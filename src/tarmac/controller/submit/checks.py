"""The checks of a submit. All jobs are checked before any of them is queued."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.accounts.memory import AUTO, Kind, memory_to_book
from tarmac.controller.notify.choice import NotificationChoice, choice_of
from tarmac.controller.submit.dependencies import refuse_circle_of_new
from tarmac.controller.submit.environment.environment import refuse_bad_inherited
from tarmac.controller.submit.environment.python_env import absolute_venv, refuse_two_environments
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.controller.submit.labels import refuse_bad_labels, refuse_bad_params, refuse_nul
from tarmac.controller.submit.paths.path_templates import refuse_bad_templates
from tarmac.controller.submit.refused_jobs import MOST_REFUSED, refusal_of
from tarmac.controller.submit.request import request_fields, spec_fields
from tarmac.controller.submit.retries import retries_of
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.snapshot import leads_elsewhere
from tarmac.core.policy.feasibility import chosen_nodes, lack
from tarmac.refusal import Refused, invalid
from tarmac.shared import fill
from tarmac.shared.end_warning import UNCATCHABLE, parse_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.accounts.memory import PastMemory
    from tarmac.controller.notify.targets import Targets
    from tarmac.controller.submit.dependencies import Dependencies
    from tarmac.controller.submit.environment.environment import Environments
    from tarmac.controller.submit.request import JobRequest, SubmitRequest
    from tarmac.controller.submit.snapshots import SubmittedSnapshots
    from tarmac.core.model.job import After
    from tarmac.core.model.names import Tier
    from tarmac.core.state import State

LONGEST_TEXT_BYTES = 131_071  # MAX_ARG_STRLEN of Linux, without its closing zero
MOST_TEXT_BYTES = 2_000_000  # about what Linux allows for arguments and environment together
AT_ONCE = 1000  # jobs, between two turns of others


class Defaults(NamedTuple):
    """The settings that apply where a job does not say otherwise."""

    grace_s: float
    retries: int


async def checked_specs(
    request: SubmitRequest,
    *,
    owner: str,
    environments: Environments,
    defaults: Defaults,
    state: State,
    dependencies: Dependencies,
    past: PastMemory,
    targets: Targets,
    snapshots: SubmittedSnapshots,
) -> tuple[JobSpec, ...]:
    """The specs of all jobs. If there are many, other requests are answered in between."""
    check = _Checks(state, dependencies, past, targets, owner, snapshots)
    world = [f"{name}={value}" for name, value in request.environment.items()]
    refuse_nul("environment", world)
    refuse_bad_inherited(request.environment)
    refuse_too_long(world)
    specs: list[JobSpec] = []
    refused: dict[int, Refused] = {}
    for number, job in enumerate(request.jobs):
        if number and number % AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            specs.append(_spec(request, job, check, owner, environments, defaults))
        except Refused as refusal:
            refused[number] = refusal
            if len(refused) == MOST_REFUSED:
                break
    if refused:
        raise refusal_of(refused, len(request.jobs))
    refuse_circle_of_new(specs)
    return tuple(specs)


def _spec(
    submit: SubmitRequest,
    job: JobRequest,
    check: _Checks,
    owner: str,
    environments: Environments,
    defaults: Defaults,
) -> JobSpec:
    _refuse_bad_fields(job)
    cwd = job.cwd or submit.cwd
    check.directory(cwd)
    _refuse_contradictions(submit, job)
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
        environment=environments.hash_of(job.env, is_small=job.no_env),
        request=check.request(check.booked(_request(job, check.gpus), job, owner)),
        stdout=stdout,
        stderr=job.stderr,
        grace_s=defaults.grace_s if job.grace_s is None else job.grace_s,
        retries=retries.times,
        retry_on=retries.on,
        after=check.after(job.after),
        snapshot=check.snapshots.of(job),
        params=tuple(job.params.items()),
        origins=tuple(job.origins.items()),
        notify=notify.targets,
        notify_on=notify.events,
        venv=absolute_venv(job.venv, cwd),
        conda=job.conda,
        **spec_fields(job),
    )


def _refuse_bad_fields(job: JobRequest) -> None:
    refuse_bad_command(job)
    if job.log is not None and (job.stdout is not None or job.stderr is not None):
        raise invalid("submit.log_and_streams")
    if job.env:
        refuse_nul("environment", job.env)
        refuse_too_long(job.env)
    refuse_bad_fetch(job.fetch)
    refuse_bad_labels((job.name, job.project, job.note), job.tags)


def refuse_bad_fetch(paths: Sequence[str]) -> None:
    """Nothing outside of the job's directory is read, or written when it is copied back."""
    for path in paths:
        if not path or "\0" in path or (path != "." and leads_elsewhere(path)):
            raise invalid("submit.fetch_path", path=path)


def _refuse_contradictions(submit: SubmitRequest, job: JobRequest) -> None:
    refuse_bad_signals(job)
    refuse_two_environments(job)
    refuse_requeue_without_limit(job)
    if job.max_running is not None and submit.group is None:
        raise invalid("submit.max_running_without_group")
    if job.params or job.fill_paths:
        refuse_bad_params(job.params)
        refuse_bad_templates(job, submit.group)


def _request(job: JobRequest, names: GpuNames) -> Request:
    pinned, excluded = names.found(job.gpus_on), names.found(job.exclude_gpus)
    if len(pinned.nodes) > 1:
        raise invalid("gpu.pinned_to_several_nodes", nodes=pinned.nodes)
    gpus = (len(pinned.gpus) or 1) if job.gpus is None else job.gpus
    if job.gpus_on and gpus != len(pinned.gpus):
        raise invalid("submit.pinned_count", gpus=gpus, pinned=len(pinned.gpus))
    if set(pinned.gpus) & set(excluded.gpus):
        raise invalid("submit.pinned_and_excluded")
    if pinned.gpus and (job.node_count or 1) > 1:
        raise invalid("submit.pinned_on_several_nodes")
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
    """Remembers what passed: the jobs of an array make the same request."""

    def __init__(
        self,
        state: State,
        dependencies: Dependencies,
        past: PastMemory,
        targets: Targets,
        owner: str,
        snapshots: SubmittedSnapshots,
    ) -> None:
        self.gpus = GpuNames(state.nodes.values())
        self._state = state
        self._dependencies = dependencies
        self._past = past
        self._targets = targets
        self.snapshots = snapshots
        self._owner = owner
        self._notify: dict[Any, NotificationChoice] = {}
        self._after: dict[tuple[str, ...], tuple[After, ...]] = {(): ()}
        self._directories: set[str] = set()
        self._requests: dict[Request, Request] = {}
        self._outputs: set[str] = set()

    def directory(self, path: str) -> None:
        if path in self._directories:
            return
        refuse_nul("cwd", (path,))
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

    def notify(self, targets: tuple[str, ...] | None, events: tuple[str, ...]) -> NotificationChoice:
        known = self._notify.get((targets, events))
        if known is None:
            known = self._notify[targets, events] = choice_of(self._targets, self._owner, targets, events)
        return known

    def request(self, request: Request) -> Request:
        known = self._requests.get(request)
        if known is None:
            refuse_infeasible(self._state, request)
            known = self._requests[request] = request
        return known

    def output(self, path: str) -> None:
        if path in self._outputs:
            return
        refuse_nul("log path", (path,))
        if not os.path.isabs(path):
            raise invalid("submit.log_not_absolute", path=path)
        self._outputs.add(path)


def refuse_bad_command(job: JobRequest | JobSpec) -> None:
    if (job.command is None) == (job.shell is None):
        raise invalid("submit.no_command")
    if job.command is not None and not job.command[0]:
        raise invalid("submit.command_empty")
    texts = job.command or (job.shell or "",)
    refuse_nul("command", texts)
    refuse_too_long(texts)
    if job.fill:
        _refuse_unknown_placeholders(texts)


def refuse_infeasible(state: State, request: Request) -> None:
    """Refuse what no node can run, and names that no node has."""
    for name in (*request.only_nodes, *request.exclude_nodes, *request.prefer_nodes):
        if state.nodes and name not in state.nodes:
            known = list(state.nodes)
            near = get_close_matches(name, known, n=1)
            raise invalid("submit.node_unknown", node=name, near=near[0] if near else None, known=known)
    lacking = lack(state, request)
    if lacking is not None:
        only = chosen_nodes(state, request)
        raise invalid("submit.infeasible", lack=lacking, nodes=len(state.nodes), only=only)


def refuse_too_long(texts: Sequence[str]) -> None:
    """Refuse at submit what the kernel would refuse at the start, perhaps a day later."""
    longest = max((len(text.encode()) for text in texts), default=0)
    if longest > LONGEST_TEXT_BYTES:
        raise invalid("submit.text_too_long", size=longest, most=LONGEST_TEXT_BYTES)
    if sum(map(len, texts)) > MOST_TEXT_BYTES:
        raise invalid("submit.texts_too_long", most=MOST_TEXT_BYTES)


def refuse_bad_signals(job: JobRequest | JobSpec) -> None:
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
