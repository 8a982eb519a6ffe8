"""The options of a job as a submit takes them: for editors, templates and copies. Without its variables."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from tarmac.controller.submit.gpu_names import current_names
from tarmac.core.model.job import JobSpec, Request
from tarmac.shared.job_options import JOB_OPTIONS, REQUEST, SPEC

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tarmac.core.model.node import Node

OF_ONE_JOB = {"cwd", "name", "log", "stdout", "stderr", "append", "begin_at", "max_running"}


def options_of(spec: JobSpec, nodes: Collection[Node]) -> dict[str, Any]:
    """By wire name, what differs from the defaults of a submit. `gpus` and `cwd` are always there."""
    found: dict[str, Any] = {"shell": spec.shell} if spec.command is None else {"command": list(spec.command)}
    for option in JOB_OPTIONS:
        record = {SPEC: spec, REQUEST: spec.request}.get(option.record)
        if record is not None:
            value = getattr(record, option.wire)
            if value != _DEFAULTS[option.wire]:
                found[option.wire] = list(value) if isinstance(value, tuple) else value
    return found | _by_hand(spec, nodes)


def template_options(spec: JobSpec, nodes: Collection[Node]) -> dict[str, Any]:
    """What a template keeps: not the command, and nothing that is about this job only."""
    return kept_in_template(options_of(spec, nodes))


def kept_in_template(options: Mapping[str, Any]) -> dict[str, Any]:
    kept = {option.wire for option in JOB_OPTIONS if option.can_default and option.wire and not option.is_secret} | {
        "warn"
    }
    return {name: value for name, value in options.items() if name in kept - OF_ONE_JOB}


def _by_hand(spec: JobSpec, nodes: Collection[Node]) -> dict[str, Any]:
    request = spec.request
    found: dict[str, Any] = {
        "gpu_share": request.gpu_share,
        "gpu_models": list(request.gpu_models),
        "gpus_on": current_names(nodes, request.gpus_on),
        "exclude_gpus": current_names(nodes, request.exclude_gpus),
        "after": [f"{after.job}:{after.on}" for after in spec.after],
        "retries": spec.retries,
        "venv": spec.venv,
        "conda": spec.conda,
        "notify": list(spec.notify),
        "notify_on": list(spec.notify_on),
    }
    if spec.retry_on != _DEFAULTS["retry_on"]:
        found["retry_on"] = list(spec.retry_on)
    if spec.grace_s != _DEFAULTS["grace_s"]:
        found["grace_s"] = spec.grace_s
    outputs = {"log": spec.stdout} if spec.stderr is None else {"stdout": spec.stdout, "stderr": spec.stderr}
    given = {name: value for name, value in (found | outputs).items() if value}
    return {"gpus": request.gpus, "cwd": spec.cwd, **given}


_DEFAULTS = {
    field.name: field.default for field in (*fields(Request), *fields(JobSpec)) if field.default is not MISSING
}
