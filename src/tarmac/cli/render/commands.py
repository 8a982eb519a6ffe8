"""Commands in lists. Of the jobs of a group, what differs comes first: a narrow terminal cuts the rest."""

from __future__ import annotations

from tarmac.cli.render.job import command_of
from tarmac.cli.render.text import command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tarmac.client.records import Job


def distinct_commands(jobs: Sequence[Job]) -> list[str]:
    """`lr=1e-3 seed=1  python train.py …` of a sweep; `[7] ./trial.sh` of an array; `… --lr 1e-3` of a batch."""
    common = _common_words(jobs)
    return [_command(job, common) for job in jobs]


def _command(job: Job, common: Mapping[int, int]) -> str:
    if job.params:
        return f"{params_in_words(job.params)}  {command_of(job)}"
    if job.index is not None:
        return f"[{job.index}] {command_of(job)}"
    skipped = 0 if job.group is None else common[job.group]
    return f"… {command_line((job.command or [])[skipped:])}" if skipped else command_of(job)


def params_in_words(params: Mapping[str, str]) -> str:
    """`lr=1e-3 seed=1`, with quotes where a value needs them."""
    return " ".join([f"{name}={command_line([value]) if value else ''}" for name, value in params.items()])


def _common_words(jobs: Sequence[Job]) -> dict[int, int]:
    """How many words the commands of each group have in common at their beginning. Of a single job, none."""
    ends: dict[int, tuple[list[str], list[str]]] = {}  # the first and the last command in their order
    for job in jobs:
        if job.group is not None and not job.params and job.index is None:
            command = job.command or []
            low, high = ends.get(job.group, (command, command))
            ends[job.group] = min(low, command), max(high, command)
    return {group: _common(low, high) for group, (low, high) in ends.items()}


def _common(low: list[str], high: list[str]) -> int:
    if low == high or low[:2] == ["sh", "-c"]:
        return 0
    return next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
