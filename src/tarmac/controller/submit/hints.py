"""Hints for the submitter: the GPU memory that a job reserves, beside what its last runs took."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from tarmac.controller.accounts.memory import AUTO, Kind, memory_to_book, smallest_gpu_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.controller.accounts.memory import PastMemory
    from tarmac.controller.submit.request import JobRequest
    from tarmac.core.model.job import JobSpec, Request
    from tarmac.core.state import State

MOST_LOOKED_AT = 20  # jobs of one submit
MUCH_MORE = 1.5  # times what was used, reserved
LEAST_SAVED_BYTES = 1 << 30
WHOLE_GPU_PART = 0.5  # a whole GPU is too much for a job that takes less than this part of it

What: TypeAlias = Literal["too_much", "too_little", "whole_gpu", "booked", "nothing_known", "no_room"]


class MemoryHint(NamedTuple):
    what: What
    name: str | None
    runs: int
    peak_bytes: int
    reserved_bytes: int  # on each GPU; 0: not known
    auto_bytes: int  # what --gpu-mem auto would reserve; 0: whole GPUs


def memory_hints(
    asked: Sequence[JobRequest], specs: Sequence[JobSpec], past: PastMemory, state: State
) -> list[MemoryHint]:
    """Each hint once; empty if the reservations suit what is known."""
    pairs = zip(asked[:MOST_LOOKED_AT], specs[:MOST_LOOKED_AT], strict=True)
    found = [_hint(job, spec, past, state) for job, spec in pairs if spec.request.gpus]
    return list(dict.fromkeys(hint for hint in found if hint is not None))


def _hint(job: JobRequest, spec: JobSpec, past: PastMemory, state: State) -> MemoryHint | None:
    is_auto = job.gpu_memory_bytes == AUTO
    peaks = past.peaks(Kind(spec.owner, spec.name, spec.shell if spec.command is None else spec.command))
    if not peaks and not is_auto:
        return None
    reserved = _reserved_bytes(spec.request, state)
    peak, auto = max(peaks, default=0), memory_to_book(peaks, _whole(spec.request), state)
    if is_auto:
        what: What | None = "nothing_known" if not peaks else "no_room" if auto is None else "booked"
    else:
        what = None if reserved is None else _judged(spec.request, reserved, peak, auto)
    return None if what is None else MemoryHint(what, spec.name, len(peaks), peak, reserved or 0, auto or 0)


def _judged(request: Request, reserved: int, peak: int, auto: int | None) -> What | None:
    if request.is_shared and reserved < peak:
        return "too_little"
    saved = reserved - (auto or reserved)
    if saved < LEAST_SAVED_BYTES:
        return None
    if request.is_shared:
        return "too_much" if reserved > MUCH_MORE * peak else None
    return "whole_gpu" if peak <= WHOLE_GPU_PART * reserved else None


def _reserved_bytes(request: Request, state: State) -> int | None:
    """On each GPU; of a share and of a whole GPU, that of the smallest GPU it may get."""
    if request.gpu_memory_bytes is not None:
        return request.gpu_memory_bytes
    smallest = smallest_gpu_bytes(request, state)
    return None if smallest is None else int(smallest * (request.gpu_share or 1))


def _whole(request: Request) -> Request:
    return replace(request, gpu_memory_bytes=None, gpu_share=None)
