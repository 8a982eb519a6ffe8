"""A refusal in words: the key, the message and the hint of an error body.

Refusals that carry a finding of the core (`Lack`, `LimitReached`) get the key of that finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.api.wording.catalogue import render, say
from tarmac.api.wording.formats import size
from tarmac.core.policy.feasibility import ConstraintUnmet, HostTooSmall, PinnedGone, TooFewGpusOnNode
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.api.wording.message import Rendered
    from tarmac.core.model.gpu import NamedGpu
    from tarmac.core.policy.feasibility import Lack

SHOWN_OF_UUID = 12


def refusal(refused: Refused) -> Rendered:
    spelled_out = SPELLED_OUT.get(refused.key)
    if spelled_out is not None:
        return spelled_out(**refused.values)
    values = {name: refusal(value) if isinstance(value, Refused) else value for name, value in refused.values.items()}
    return render(refused.key, **values)


def infeasible(lack: Lack) -> Rendered:
    """The first constraint that no node can satisfy."""
    match lack:
        case TooFewGpusOnNode(asked=asked, have=0):
            return render("infeasible.no_gpus", asked=asked)
        case TooFewGpusOnNode(asked=asked, have=have):
            return render("infeasible.too_few_gpus", asked=asked, have=have)
        case PinnedGone(gpus=gpus):
            return render("infeasible.pinned_gpus_gone", gpus=[_named(gpu) for gpu in gpus])
        case HostTooSmall(what="memory", asked=asked, total=total):
            more, less = _apart(asked, total)
            return render("infeasible.host_memory", asked=more, total=less)
        case HostTooSmall(asked=asked, total=total):
            return render("infeasible.cpus", asked=asked, total=total)
        case ConstraintUnmet():
            return _constraint_unmet(lack)
        case _:
            assert_never(lack)


def _named(gpu: NamedGpu | int) -> str:
    if isinstance(gpu, int):
        return str(gpu)
    uuid = gpu.uuid if len(gpu.uuid) <= SHOWN_OF_UUID else f"{gpu.uuid[:SHOWN_OF_UUID]}…"
    return f"{gpu.index} ({uuid})"


def _constraint_unmet(lack: ConstraintUnmet) -> Rendered:
    asked, have = lack.asked, lack.have
    rest = say("infeasible.without_excluded") if lack.has_excluded else ""
    match lack.condition:
        case "exclude" if have:
            return render("infeasible.mostly_excluded", asked=asked, have=have, of=lack.of)
        case "exclude":
            return render("infeasible.excluded", asked=asked, of=lack.of)
        case "model":
            return render("infeasible.model", asked=asked, models=lack.models, have=have, rest=rest)
        case "mig" if have:
            return render("infeasible.mig_and_whole", asked=asked, have=have, rest=rest)
        case "mig":
            return render("infeasible.mig", asked=asked)
        case "size":
            return _too_small(lack, rest)
        case "kept":
            return _too_little_bookable(lack, rest)
        case _:
            return render("infeasible.pinned", asked=asked, have=have, rest=rest)


def _too_small(lack: ConstraintUnmet, rest: str) -> Rendered:
    if lack.have:
        return render("infeasible.gpus_too_small", asked=lack.asked, size=lack.asked_bytes, have=lack.have, rest=rest)
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    return render("infeasible.every_gpu_too_small", size=more, most=less, rest=rest)


def _too_little_bookable(lack: ConstraintUnmet, rest: str) -> Rendered:
    if lack.have:
        return render(
            "infeasible.too_little_bookable", asked=lack.asked, size=lack.asked_bytes, have=lack.have, rest=rest
        )
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    most = less if less.endswith("bytes") else f"{less} ({lack.most_bytes} bytes)"
    return render("infeasible.nowhere_bookable", size=more, most=most)


def _apart(more: int, less: int) -> tuple[str, str]:
    """Two sizes, exact enough to see which one is larger."""
    if size(more) != size(less):
        return size(more), size(less)
    return f"{more} bytes", f"{less} bytes"


SPELLED_OUT: dict[str, Callable[..., Rendered]] = {"submit.infeasible": infeasible}
