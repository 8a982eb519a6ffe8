"""The GPU memory that jobs with the same owner and name took, for hints and for `--gpu-mem auto`.

A job without a name is recognised by its command. Its hash is stored, so that no command outlives its job.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from tarmac.core.fit.gpu_fit import bookable_bytes, size, suits
from tarmac.store.accounts import MemoryPeak

if TYPE_CHECKING:
    from tarmac.core.model.attempt import Attempt
    from tarmac.core.model.job import Job, Request
    from tarmac.core.model.status import Booking
    from tarmac.core.state import State
    from tarmac.store.accounts import Usage
    from tarmac.store.reader import Reader

AUTO: Final = "auto"  # as in --gpu-mem auto
MARGIN = 1.15  # peaks are sampled, and the next run may take a little more
STEP_BYTES = 256 << 20  # what is booked is rounded up to a multiple of this


class Kind(NamedTuple):
    """What past jobs are recognised by."""

    owner: str
    name: str | None
    command: tuple[str, ...] | str | None  # argv or a shell string

    @property
    def key(self) -> str:
        if self.name is not None:
            return f"name:{self.name}"
        words = (self.command,) if isinstance(self.command, str) else self.command or ()
        text = "\0".join((type(self.command).__name__, *words))
        return f"command:{blake2b(text.encode(errors='surrogatepass'), digest_size=16).hexdigest()}"


class PastMemory:
    """Looks up each kind once, however many jobs of it one submit has."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._found: dict[Kind, list[int]] = {}

    def peaks(self, kind: Kind) -> list[int]:
        """The memory that the last jobs took on one GPU, in bytes; empty if none is known."""
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = self._reader.memory_peaks(kind.owner, kind.key)
        return found


def kind_of(job: Job) -> Kind:
    spec = job.spec
    return Kind(spec.owner, spec.name, spec.shell if spec.command is None else spec.command)


def peak_to_remember(job: Job, attempt: Attempt, usage: Usage, state: State) -> MemoryPeak | None:
    """What the end of an attempt teaches; None for one that was stopped or failed early, which says little.

    An attempt that ran out of memory needed more than it had reserved, or than its GPUs have.
    """
    peak = usage.peak_gpu_memory_bytes or 0
    if attempt.reason == "oom-gpu":
        peak = max(peak, *_available_bytes(attempt.booking, state))
    elif attempt.end != "succeeded" and attempt.reason != "timeout":
        return None
    if not peak:
        return None
    kind = kind_of(job)
    return MemoryPeak(owner=kind.owner, kind=kind.key, job=job.id, at=attempt.ended_at, peak_bytes=peak)


def _available_bytes(booking: Booking, state: State) -> list[int]:
    """The memory that an attempt could use on each of its GPUs; 0 where it is not known."""
    nodes = [state.nodes[name] for name in booking.nodes if name in state.nodes]
    whole = {uuid: gpu.memory_total_bytes or 0 for node in nodes for uuid, gpu in node.gpus.items()}
    return [gpu.memory_bytes or int(whole.get(gpu.uuid, 0) * gpu.part) for gpu in booking.all_gpus]


def with_margin(peak_bytes: int) -> int:
    return -(-int(peak_bytes * MARGIN) // STEP_BYTES) * STEP_BYTES


def memory_to_book(peaks: list[int], request: Request, state: State) -> int | None:
    """What `auto` books on each GPU; None for whole GPUs, if nothing is known or no GPU can share that much.

    The margin does not exclude GPUs on which the peak itself has room.
    """
    if not peaks:
        return None
    peak = max(peaks)
    rooms = [
        bookable_bytes(gpu, state.rules)
        for node in state.nodes.values()
        for gpu in node.gpus.values()
        if suits(gpu, request, state.rules) is None
    ]
    enough = [room for room in rooms if room >= peak]
    if rooms and not enough:
        return None
    return min([with_margin(peak), *enough])


def smallest_gpu_bytes(request: Request, state: State) -> int | None:
    """The memory of the smallest GPU that the job may get; None if none is known."""
    return min(
        (
            size(gpu)
            for node in state.nodes.values()
            for gpu in node.gpus.values()
            if gpu.memory_total_bytes and suits(gpu, request, state.rules) is None
        ),
        default=None,
    )
