"""New options for jobs that were submitted before: of a waiting job, or of a copy. The rules are those of a submit."""

from __future__ import annotations

import os
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import UNSET

from tarmac.controller.accounts.memory import AUTO, Kind, PastMemory, memory_to_book
from tarmac.controller.notify.choice import edited
from tarmac.controller.submit.checks import (
    refuse_bad_command,
    refuse_bad_fetch,
    refuse_bad_signals,
    refuse_infeasible,
    refuse_requeue_without_limit,
    refuse_too_long,
)
from tarmac.controller.submit.dependencies import Dependencies
from tarmac.controller.submit.environment.environment import variables_of
from tarmac.controller.submit.environment.python_env import absolute_venv, edited_environments
from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.controller.submit.labels import refuse_bad_labels, refuse_nul
from tarmac.controller.submit.paths.path_templates import filled, refuse_bad_placeholders, templated, untemplated
from tarmac.controller.submit.retries import refuse_oom_contradiction, refuse_oom_without_retry
from tarmac.core.model.job import Job, JobSpec, Request
from tarmac.refusal import conflict, invalid
from tarmac.shared.job_options import JOB_OPTIONS, REQUEST, SPEC, passed_to
from tarmac.store.environments.secret_files import SecretsMissing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.controller import Controller
    from tarmac.controller.submit.paths.needed import MissingOnNodes
    from tarmac.controller.submit.request import EditRequest
    from tarmac.core.model.job import After
    from tarmac.core.state import State
    from tarmac.store.environments.environments import StoredEnvironment

CondaPrefixes: TypeAlias = dict[tuple[str, str], str]  # by the name of the environment and the directory of the job
OUTPUTS = ("log", "stdout", "stderr")
RUNS_AS_OWNER = ("command", "shell", "cwd", "env", "venv", "conda", *OUTPUTS)  # an admin must not act as another user
OF_REQUEST = ("gpus", "gpu_share", "gpu_models", "gpus_on", "exclude_gpus", *passed_to(REQUEST))


def given_in(changes: EditRequest) -> dict[str, Any]:
    """The fields that were given, by name. Refuses a request without any."""
    names = [name for name in changes.__struct_fields__ if name != "fill_paths"]
    given = {name: value for name in names if (value := getattr(changes, name)) is not UNSET}
    if not given:
        raise invalid("edit.nothing", fields=names)
    return given


async def conda_prefixes(controller: Controller, specs: Sequence[JobSpec], changes: EditRequest) -> CondaPrefixes:
    """Where the conda environment is that the changes name. Refuses a virtual environment that does not exist, too."""
    venv, conda = (None if value is UNSET else value for value in (changes.venv, changes.conda))
    if not specs or (venv is None and conda is None):
        return {}
    if venv is not None and conda is not None:
        raise invalid("submit.venv_and_conda")
    if changes.cwd is not UNSET:
        specs = [replace(spec, cwd=changes.cwd) for spec in specs]
    variables = controller.store.reader.public_environment(specs[0].environment)
    found = await edited_environments(specs, venv, conda, variables, controller.state, controller.fleet)
    return {(conda or "", directory): prefix for directory, prefix in found.items()}


class _Known(NamedTuple):
    """Keeps the spec and the changes, so that no other object gets their identities."""

    spec: JobSpec
    changes: EditRequest
    edited: JobSpec


class Edits:
    """Applies changes to specs. Remembers the environments that it made, which are stored with the decision."""

    def __init__(self, controller: Controller, state: State, caller: str, prefixes: CondaPrefixes) -> None:
        self.environments: dict[str, StoredEnvironment] = {}
        self.missing: MissingOnNodes | None = None  # what nodes lack, if other files are needed than before
        self._prefixes = prefixes
        self._controller = controller
        self._state = state
        self._names = GpuNames(state.nodes.values())
        self._dependencies = Dependencies(state, controller.store.reader, caller)
        self._known: dict[tuple[int, int], _Known] = {}  # by the identities of spec and changes

    def spec(self, job: Job, changes: EditRequest) -> JobSpec:
        """The new spec of the job, or of a copy of it. Jobs of an array that share a spec share the new one, too."""
        key = (id(job.spec), id(changes))
        known = self._known.get(key)
        if known is None:
            given = given_in(changes)
            spec = self._changed(job, given, changes)
            if not given.keys().isdisjoint(OUTPUTS):
                return spec  # each job has its own output files
            known = self._known[key] = _Known(job.spec, changes, spec)
        return known.edited

    def _changed(self, job: Job, given: dict[str, Any], changes: EditRequest) -> JobSpec:
        spec = job.spec
        _refuse_bad_values(given)
        new = edited(self._controller.targets, spec, _with_defaults(spec, given, self._grace_s))
        new = {name: value for name, value in new.items() if name in _KEPT}
        if "command" in given or "shell" in given:
            new |= {"command": given.get("command"), "shell": given.get("shell")}
        if "env" in given:
            new["environment"] = self._environment(spec, given["env"])
        if "after" in given:
            new["after"] = self.after(given["after"])
        changed = self._with_environment(replace(spec, **new), given)
        if not given.keys().isdisjoint(OF_REQUEST):
            changed = replace(changed, request=self._request(changed, given))
        if not given.keys().isdisjoint(OUTPUTS):
            changed = self._with_outputs(job, changed, given, changes)
        _refuse_contradictions(changed, given)
        origins = tuple((name, origin) for name, origin in changed.origins if name not in given)
        return changed if origins == changed.origins else replace(changed, origins=origins)

    def after(self, words: tuple[str, ...] | None) -> tuple[After, ...]:
        return self._dependencies.read(words or ())

    @property
    def _grace_s(self) -> float:
        return self._controller.settings.in_force.grace_s

    def _environment(self, spec: JobSpec, env: tuple[str, ...]) -> str:
        """The variables of the job, with these set anew."""
        if not spec.environment:
            raise invalid("edit.no_environment")
        new = variables_of(env)
        try:
            known = self._controller.store.reader.environment(spec.environment)
        except SecretsMissing:
            public = self._controller.store.reader.public_environment(spec.environment)
            missing = [name for name, value in public.items() if value is None and name not in new]
            if missing:
                raise conflict("edit.no_secrets", names=missing, first=missing[0]) from None
            known = {name: value for name, value in public.items() if value is not None}
        digest, stored = self._controller.store.pack_environment(known | new)
        self.environments[digest] = stored
        return digest

    def _with_environment(self, spec: JobSpec, given: dict[str, Any]) -> JobSpec:
        """One environment replaces another of the other kind."""
        if given.get("venv") is not None:
            return replace(spec, venv=absolute_venv(given["venv"], spec.cwd), conda=None)
        if given.get("conda") is not None:
            name = given["conda"]
            return replace(spec, conda=self._prefixes.get((name, spec.cwd), name), venv=None)
        if "venv" in given or "conda" in given:  # `none` clears it
            spec = replace(
                spec,
                venv=None if "venv" in given else spec.venv,
                conda=None if "conda" in given else spec.conda,
            )
        return spec

    def _request(self, spec: JobSpec, given: dict[str, Any]) -> Request:
        request = edited_request(spec.request, given, self._names)
        if given.get("gpu_memory_bytes") == AUTO:
            kind = Kind(spec.owner, spec.name, spec.shell if spec.command is None else spec.command)
            peaks = PastMemory(self._controller.store.reader).peaks(kind)
            request = replace(request, gpu_memory_bytes=memory_to_book(peaks, request, self._state))
        refuse_infeasible(self._state, request)
        return request

    def _with_outputs(self, job: Job, spec: JobSpec, given: dict[str, Any], changes: EditRequest) -> JobSpec:
        if given.get("log") is not None and (given.get("stdout") or given.get("stderr")):
            raise invalid("submit.log_and_streams")
        if "log" in given:
            spec = replace(spec, stdout=given["log"], stderr=None)
        spec = replace(spec, **{name: given[name] for name in ("stdout", "stderr") if name in given})
        new = {"stdout" if name == "log" else name for name in OUTPUTS if name in given}
        spec = untemplated(spec, {"stdout", "stderr"} if "log" in given else new)
        if changes.fill_paths and new:
            paths = [path for name in sorted(new) if (path := getattr(spec, name)) is not None]
            refuse_bad_placeholders(paths, _placeholders(job, spec))
            spec = filled(templated(spec, new), job.id, job.index)
        for path in spec.outputs:
            refuse_nul("log path", (path,))
            if not os.path.isabs(path):
                raise invalid("submit.log_not_absolute", path=path)
        return spec


def _placeholders(job: Job, spec: JobSpec) -> list[str]:
    named = [] if spec.name is None else ["name"]
    return ["id", *named, *([] if job.index is None else ["index"])]


def edited_request(request: Request, given: dict[str, Any], names: GpuNames) -> Request:
    """What is given replaces what the job asked for. A share replaces an amount of memory, and the other way round."""
    new: dict[str, Any] = {}
    for name in passed_to(REQUEST):
        if name in given and given[name] != AUTO:
            new[name] = _DEFAULTS[name] if given[name] is None else given[name]
    if "gpu_models" in given:
        new["gpu_models"] = tuple(model.lower() for model in given["gpu_models"])
    new |= _shares(given) | _named_gpus(given, names)
    pinned = len(new.get("gpus_on", request.gpus_on))
    if given.get("gpus") is not None:
        new["gpus"] = given["gpus"]
    elif "gpus" in given or given.get("gpus_on"):
        new["gpus"] = pinned or 1
    changed = replace(request, **new)
    if pinned and changed.gpus != pinned:
        raise invalid("submit.pinned_count", gpus=changed.gpus, pinned=pinned)
    if set(changed.gpus_on) & set(changed.exclude_gpus):
        raise invalid("submit.pinned_and_excluded")
    if pinned and changed.node_count > 1:
        raise invalid("submit.pinned_on_several_nodes")
    if changed.is_shared and changed.gpus == 0:
        raise invalid("submit.share_of_no_gpu")
    return changed


def _shares(given: dict[str, Any]) -> dict[str, Any]:
    share, memory = given.get("gpu_share"), given.get("gpu_memory_bytes")
    if share is not None and memory is not None:
        raise invalid("submit.two_shares")
    new = {"gpu_share": None if share == 1 else share} if "gpu_share" in given else {}
    if share is not None:
        return new | {"gpu_memory_bytes": None}
    return new if memory is None else new | {"gpu_share": None}


def _named_gpus(given: dict[str, Any], names: GpuNames) -> dict[str, Any]:
    new: dict[str, Any] = {}
    for name in ("gpus_on", "exclude_gpus"):
        if name in given:
            found = names.found(given[name] or ())
            if name == "gpus_on" and len(found.nodes) > 1:
                raise invalid("gpu.pinned_to_several_nodes", nodes=found.nodes)
            new[name] = found.gpus
    return new


_DEFAULTS = {
    field.name: field.default for field in (*fields(Request), *fields(JobSpec)) if field.default is not MISSING
}
OF_GPUS = tuple(option for option in JOB_OPTIONS if option.takes_gpu and "edit" in option.verbs)
_KEPT = frozenset({*passed_to(SPEC), "retries", "retry_on", "notify", "notify_on", "cwd", "grace_s"})


def _with_defaults(spec: JobSpec, given: dict[str, Any], grace_s: float) -> dict[str, Any]:
    """Null means the default. The directory of a job has none."""
    found = dict(given)
    for name, value in given.items():
        if value is None and name not in {"notify", "notify_on"}:
            found[name] = {"grace_s": grace_s, "cwd": spec.cwd}.get(name, _DEFAULTS.get(name))
    return found


def _refuse_bad_values(given: dict[str, Any]) -> None:
    refuse_oom_contradiction(given.get("on_oom"), given.get("retry_on"))
    refuse_bad_labels((given.get(name) for name in ("name", "project", "note")), given.get("tags") or ())
    if given.get("command") is not None and given.get("shell") is not None:
        raise invalid("submit.no_command")
    if given.get("cwd") is not None:
        refuse_nul("cwd", (given["cwd"],))
        if not os.path.isabs(given["cwd"]):
            raise invalid("submit.cwd_not_absolute", path=given["cwd"])
    refuse_bad_fetch(given.get("fetch") or ())
    if given.get("env"):
        refuse_nul("environment", given["env"])
        refuse_too_long(given["env"])


def _refuse_contradictions(spec: JobSpec, given: dict[str, Any]) -> None:
    if spec.request.gpus == 0:
        option = next((one for one in OF_GPUS if given.get(one.wire)), None)
        if option is not None:
            raise invalid("edit.needs_gpu", option=option.flag)
    if not given.keys().isdisjoint({"command", "shell", "fill"}):
        refuse_bad_command(spec)
    refuse_oom_without_retry(spec)
    refuse_requeue_without_limit(spec)
    refuse_bad_signals(spec)
