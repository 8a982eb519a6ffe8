"""Why a request can never be met, in words: for whoever submits it, and for whoever waits since that became so."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.core.policy.feasibility import ConstraintUnmet, HostTooSmall, PinnedGone, TooFewGpusOnNode
from tarmac.errors import UserError

if TYPE_CHECKING:
    from tarmac.core.model.gpu import NamedGpu
    from tarmac.core.policy.feasibility import Lack

SHOWN_OF_UUID = 12


def count(number: float, noun: str) -> str:
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} G"


def refusal_message(lack: Lack) -> UserError:
    match lack:
        case TooFewGpusOnNode(asked=asked, have=0):
            return UserError(
                f"{count(asked, 'GPU')} asked, this machine has none that Tarmac can see",
                hint="ask for none with -g 0; `tarmac gpus` lists them",
            )
        case TooFewGpusOnNode(asked=asked, have=have):
            return UserError(
                f"{count(asked, 'GPU')} asked, this machine has {have}",
                hint=f"ask for at most {have} with -g, or for none with -g 0; `tarmac gpus` lists them",
            )
        case PinnedGone(gpus=gpus):
            return UserError(_gone(gpus), hint="`tarmac gpus` lists those that there are")
        case HostTooSmall(what="memory", asked=asked, total=total):
            more, less = _apart(asked, total)
            return UserError(f"{more} of host memory asked, this machine has {less}", hint="ask for less with --mem")
        case HostTooSmall(what=what, asked=asked, total=total):
            return UserError(f"{asked} {what} asked, this machine has {total}", hint=f"ask for less with --{what}")
        case ConstraintUnmet():
            message, hint = _conditioned(lack)
            return UserError(message, hint=hint)
        case _:
            assert_never(lack)


def _gone(gpus: tuple[NamedGpu | int, ...]) -> str:
    names = [str(gpu) if isinstance(gpu, int) else f"{gpu.index} ({_short(gpu.uuid)})" for gpu in gpus]
    if len(names) == 1:
        return f"GPU {names[0]}, to which it is pinned, is gone"
    return f"GPUs {', '.join(names)}, to which it is pinned, are gone"


def _short(uuid: str) -> str:
    return uuid if len(uuid) <= SHOWN_OF_UUID else f"{uuid[:SHOWN_OF_UUID]}…"


def _conditioned(lack: ConstraintUnmet) -> tuple[str, str]:
    gpus, there = count(lack.asked, "GPU"), _there(lack)
    match lack.condition:
        case "exclude":
            gone = f"all but {lack.have} of {lack.of}" if lack.have else f"all {lack.of}"
            return f"{gpus} asked, {gone} are excluded", "leave some out of --exclude-gpus"
        case "model":
            asked = f"{gpus} of model {' or '.join(lack.models)} asked, {there}"
            return asked, "`tarmac gpus` tells the model of each; ask for fewer, or leave --gpu-model out"
        case "mig":
            whole = f"; of whole GPUs {there}" if lack.have else ""
            return f"{gpus} asked, but a job sees one MIG instance only{whole}", "queue one job for each instance"
        case "size":
            return _too_small(lack, gpus, there), "`tarmac gpus` tells the memory of each; ask for less"
        case "kept":
            return _kept(lack, gpus, there), "ask for less, or lower it with `tarmac set keep_gpu_memory`"
        case _:
            return f"{gpus} asked, {there} that it is pinned to", "name as many with --gpus-on"


def _too_small(lack: ConstraintUnmet, gpus: str, there: str) -> str:
    if lack.have:
        return f"{gpus} with {gigabytes(lack.asked_bytes)} of memory asked, {there}"
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    return f"{more} of memory on a GPU asked, the largest has {less}{_left(lack)}"


def _kept(lack: ConstraintUnmet, gpus: str, there: str) -> str:
    if lack.have:
        asked = gigabytes(lack.asked_bytes)
        return f"{gpus} with {asked} to book asked, {there}: keep_gpu_memory holds back a part of each"
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    in_bytes = less if less.endswith("bytes") else f"{less} ({lack.most_bytes} bytes)"
    return f"{more} of a GPU asked, at most {in_bytes} can be booked: keep_gpu_memory holds back the rest"


def _there(lack: ConstraintUnmet) -> str:
    """How many would do."""
    return f"there {'are' if lack.have > 1 else 'is'} {lack.have or 'none'}{_left(lack)}"


def _left(lack: ConstraintUnmet) -> str:
    return " (without those excluded)" if lack.has_excluded else ""


def _apart(more: int, less: int) -> tuple[str, str]:
    """Two sizes so that one can see which is more."""
    if gigabytes(more) != gigabytes(less):
        return gigabytes(more), gigabytes(less)
    return f"{more} bytes", f"{less} bytes"
