"""Output files with placeholders: `{id}`, `{name}`, and in an array `{index}`.

The ids of jobs are known when they are committed, but their files are checked before. So the check assumes the next
free ids, and is repeated if another submit came first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tarmac.controller.engine.decision import PlanOutdated
from tarmac.core.model.job import OutputTemplate
from tarmac.refusal import invalid
from tarmac.shared import fill
from tarmac.shared.fill import trouble

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tarmac.controller.submit.groups import GroupPlan
    from tarmac.controller.submit.request import GroupRequest, JobRequest
    from tarmac.core.model.job import JobSpec
    from tarmac.core.model.names import OutputName

OUTPUTS: tuple[OutputName, ...] = ("stdout", "stderr")


class IdsMoved(PlanOutdated):
    """Another submit got the ids that the output files of this one were named after."""


def refuse_bad_templates(job: JobRequest, group: GroupRequest | None) -> None:
    """Does nothing for a job whose paths are to be taken as they are."""
    if not job.fill_paths:
        return
    known = ["id"]
    known += [] if job.name is None else ["name"]
    known += ["index"] if group is not None and group.kind == "array" else []
    paths = [path for path in (job.log, job.stdout, job.stderr) if path is not None]
    refuse_bad_placeholders(paths, known)


def refuse_bad_placeholders(paths: Sequence[str], known: Sequence[str]) -> None:
    found = trouble(paths, known)
    if found is not None and found.placeholder is None:
        raise invalid("submit.path_single_brace", path=found.text)
    if found is not None:
        raise invalid(
            "submit.path_placeholder",
            path=found.text,
            placeholder=found.placeholder,
            known=[f"{{{name}}}" for name in known],
        )


def with_paths(
    specs: tuple[JobSpec, ...], jobs: Sequence[JobRequest], group: GroupPlan | None, first_id: int
) -> tuple[JobSpec, ...]:
    """The specs with their output files, if they get the ids from `first_id` on."""
    is_repeated = group is not None and group.is_repeated
    found = []
    for number, spec in enumerate(specs):
        if not jobs[0 if is_repeated else number].fill_paths:
            found.append(spec)
            continue
        index = group.indices[number] if group is not None and group.indices else None
        found.append(filled(templated(spec, OUTPUTS), first_id + number, index))
    return tuple(found)


def templated(spec: JobSpec, outputs: Collection[str]) -> JobSpec:
    """The spec, with the paths of these output files as templates."""
    kept = [one for one in spec.output_templates if one.output not in outputs]
    new = [OutputTemplate(name, path) for name in OUTPUTS if name in outputs and (path := getattr(spec, name))]
    return replace(spec, output_templates=(*kept, *new))


def untemplated(spec: JobSpec, outputs: Collection[str]) -> JobSpec:
    """The spec, with the paths of these output files as they are."""
    if not spec.output_templates:
        return spec
    return replace(spec, output_templates=tuple(one for one in spec.output_templates if one.output not in outputs))


def filled(spec: JobSpec, number: int, index: int | None) -> JobSpec:
    """The spec with the output files that its templates name for this job. One that cannot be filled in stays."""
    if not spec.output_templates:
        return spec
    values = {"id": str(number), "name": _file_name(spec.name), "index": None if index is None else str(index)}
    known = {name: value for name, value in values.items() if value is not None}
    paths = {one.output: fill.fill(one.path, known) for one in spec.output_templates if not trouble([one.path], known)}
    return replace(spec, stdout=paths.get("stdout", spec.stdout), stderr=paths.get("stderr", spec.stderr))


def _file_name(name: str | None) -> str | None:
    """The name of a job as part of a file name: it never leads to another directory."""
    if name is None:
        return None
    return name.replace("/", "_") if name.strip(".") else "_" * len(name)
