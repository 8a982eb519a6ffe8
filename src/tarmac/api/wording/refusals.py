"""A refusal in words: the key, the message and the hint of an error body.

Refusals that carry a finding of the core (`Lack`, `LimitReached`) get the key of that finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from tarmac.api.wording.catalogue.catalogue import render, say
from tarmac.api.wording.catalogue.formats import size
from tarmac.api.wording.notes import note_words
from tarmac.api.wording.phrases import in_own_words
from tarmac.core.model.note import Note
from tarmac.core.policy.feasibility import (
    ConstraintUnmet,
    FilesMissing,
    HostTooSmall,
    NoNodeLeft,
    OnlyWatched,
    PinnedGone,
    TooFewGpusOnNode,
    TooFewNodes,
)
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tarmac.api.wording.catalogue.message import Rendered
    from tarmac.core.limits import LimitReached
    from tarmac.core.model.gpu import NamedGpu
    from tarmac.core.policy.feasibility import Lack

SHOWN_OF_UUID = 12
FORMED_ELSEWHERE = frozenset({"trouble", "problem", "health"})  # values that may be English sentences


def refusal(refused: Refused) -> Rendered:
    spelled_out = SPELLED_OUT.get(refused.key)
    if spelled_out is not None:
        return spelled_out(**refused.values)
    return render(refused.key, **{name: _in_words(name, value) for name, value in refused.values.items()})


def _in_words(name: str, value: Any) -> Any:
    match value:
        case str() if name in FORMED_ELSEWHERE:
            return in_own_words(value)
        case Refused():
            return refusal(value)
        case Note():
            return note_words(value)
        case _:
            return value


def infeasible(lack: Lack, nodes: int = 1, only: Sequence[str] = ()) -> Rendered:
    """The first constraint that no node can satisfy. `only`: the nodes that the job may run on, if not on all."""
    rendered = _infeasible(lack, nodes)
    if not only or isinstance(lack, NoNodeLeft | OnlyWatched):
        return rendered
    return rendered._replace(message=say("infeasible.on_chosen_nodes", text=rendered.message, nodes=only))


def _infeasible(lack: Lack, nodes: int) -> Rendered:
    match lack:
        case TooFewGpusOnNode(asked=asked, have=0):
            return render("infeasible.no_gpus", asked=asked, nodes=nodes)
        case TooFewGpusOnNode(asked=asked, have=have):
            return render("infeasible.too_few_gpus", asked=asked, have=have, nodes=nodes)
        case PinnedGone(gpus=gpus):
            return render("infeasible.pinned_gpus_gone", gpus=[_named(gpu) for gpu in gpus])
        case HostTooSmall(what="memory", asked=asked, total=total):
            more, less = _apart(asked, total)
            return render("infeasible.host_memory", asked=more, total=less, nodes=nodes)
        case HostTooSmall(asked=asked, total=total):
            return render("infeasible.cpus", asked=asked, total=total, nodes=nodes)
        case TooFewNodes(asked=asked, have=have, of=of):
            return render("infeasible.too_few_nodes", asked=asked, have=have, of=of)
        case ConstraintUnmet():
            return _constraint_unmet(lack, nodes)
        case NoNodeLeft() | OnlyWatched() | FilesMissing():
            return _no_node(lack)
        case _:
            assert_never(lack)


def _no_node(lack: NoNodeLeft | OnlyWatched | FilesMissing) -> Rendered:
    match lack:
        case NoNodeLeft(named=named, excluded=excluded):
            return render("infeasible.no_node_left", named=named, excluded=excluded)
        case OnlyWatched(nodes=watched):
            return render("infeasible.only_watched", nodes=watched)
        case FilesMissing():
            return render("infeasible.files_missing", nodes=len(lack.nodes))
        case _:
            assert_never(lack)


def _named(gpu: NamedGpu | int) -> str:
    if isinstance(gpu, int):
        return str(gpu)
    uuid = gpu.uuid if len(gpu.uuid) <= SHOWN_OF_UUID else f"{gpu.uuid[:SHOWN_OF_UUID]}…"
    return f"{gpu.index} ({uuid})"


def _constraint_unmet(lack: ConstraintUnmet, nodes: int) -> Rendered:
    asked, have = lack.asked, lack.have
    rest = say("infeasible.without_excluded") if lack.has_excluded else ""
    match lack.condition:
        case "exclude" if have:
            return render("infeasible.mostly_excluded", asked=asked, have=have, of=lack.of)
        case "exclude":
            return render("infeasible.excluded", asked=asked, of=lack.of)
        case "model":
            return render("infeasible.model", asked=asked, models=lack.models, have=have, rest=rest, nodes=nodes)
        case "mig" if have:
            return render("infeasible.mig_and_whole", asked=asked, have=have, rest=rest, nodes=nodes)
        case "mig":
            return render("infeasible.mig", asked=asked)
        case "size":
            return _too_small(lack, rest, nodes)
        case "kept":
            return _too_little_bookable(lack, rest, nodes)
        case _:
            return render("infeasible.pinned", asked=asked, have=have, rest=rest)


def _too_small(lack: ConstraintUnmet, rest: str, nodes: int) -> Rendered:
    if lack.have:
        return render(
            "infeasible.gpus_too_small", asked=lack.asked, size=lack.asked_bytes, have=lack.have, rest=rest, nodes=nodes
        )
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    return render("infeasible.every_gpu_too_small", size=more, most=less, rest=rest, nodes=nodes)


def _too_little_bookable(lack: ConstraintUnmet, rest: str, nodes: int) -> Rendered:
    if lack.have:
        return render(
            "infeasible.too_little_bookable",
            asked=lack.asked,
            size=lack.asked_bytes,
            have=lack.have,
            rest=rest,
            nodes=nodes,
        )
    more, less = _apart(lack.asked_bytes, lack.most_bytes)
    is_exact = size(lack.asked_bytes) == size(lack.most_bytes)
    most = less if is_exact else say("size.exactly", size=less, count=lack.most_bytes)
    return render("infeasible.nowhere_bookable", size=more, most=most, nodes=nodes)


def _apart(more: int, less: int) -> tuple[str, str]:
    """Two sizes, exact enough to see which one is larger."""
    if size(more) != size(less):
        return size(more), size(less)
    return say("size.bytes", count=more), say("size.bytes", count=less)


def limit_reached(reached: LimitReached) -> Rendered:
    """Which limit, its value, and by how much it would be exceeded."""
    limit, who, most = reached.limit, reached.name, reached.most
    used, asked = reached.used, reached.asked
    if limit == "max_gpus_per_job":
        return render("limit.gpus_per_job", asked=asked, limit=limit, most=most, over=asked - most)
    if limit.startswith("gpu_hours") and used > most:
        return render("limit.gpu_hours", who=who, used=used, limit=limit, most=most, over=used - most)
    if limit.startswith("gpu_hours"):
        return render("limit.gpu_hours_used_up", who=who, used=used, limit=limit, most=most)
    over = used + asked - most
    if limit.startswith("max_gpus"):
        return render("limit.gpus_running", who=who, used=used, asked=asked, limit=limit, most=most, over=over)
    return render("limit.jobs_waiting", who=who, used=used, asked=asked, limit=limit, most=most, over=over)


def _over_limit_at_submit(reached: LimitReached) -> Rendered:
    if reached.limit == "max_gpus_per_job":
        return render("limit.too_wide_at_submit", reached=limit_reached(reached))
    return render("limit.at_submit", reached=limit_reached(reached))


def _over_limit_at_edit(reached: LimitReached) -> Rendered:
    return render("limit.at_edit", reached=limit_reached(reached))


def _double_booking(taken: list[tuple[int | str, tuple[int, ...]]]) -> Rendered:
    held = [say("start.gpu_held", gpu=gpu, jobs=jobs) for gpu, jobs in taken]
    return render("start.double_booking", held=held)


# Keys whose values need more than a template. Each function renders other keys.
SPELLED_OUT: dict[str, Callable[..., Rendered]] = {
    "submit.infeasible": infeasible,
    "submit.over_limit": _over_limit_at_submit,
    "edit.over_limit": _over_limit_at_edit,
    "start.double_booking": _double_booking,
}
