"""The history of a job, for `tarmac show`."""

from __future__ import annotations

from tarmac.cli.render.text import safe
from tarmac.cli.term.terminal import has_colours, paint
from tarmac.shared.clocks import local
from tarmac.shared.units import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tarmac.client.answers import Leftovers, LeftProcess, StoryEvent

FIRST, LAST = 10, 50  # events of a long history that are shown
LABELS = {
    "Decided": "scheduled",
    "JobsLabelled": "labelled",
    "JobsPaused": "paused",
    "JobsResumed": "resumed",
    "JobsRetried": "retried",
    "StopAsked": "stop requested",
    "EndWarned": "warned",
    "LeftoversEnded": "left behind",
    "TreeGone": "processes ended",
}  # of events whose names are not what users call them


def story(job: int, events: Sequence[StoryEvent]) -> list[str]:
    """The history of the job, one line per event. Of a long one, the middle is left out."""
    if not events:
        return []
    left_out = len(events) - FIRST - LAST
    if left_out > 0:
        events = [*events[:FIRST], *events[-LAST:]]
    kinds = [_spaced(event["kind"]) for event in events]
    wide = max(map(len, kinds))
    lines = [paint("History", "bold") if has_colours() else "History"]
    for event, kind in zip(events, kinds, strict=True):
        lines.append(f"  {local(event['at'])}  {kind.ljust(wide)}  {_detail(event)}".rstrip())
    if left_out > 0:
        lines.insert(1 + FIRST, f"  … {left_out:,} more events, in the API: GET /jobs/{job}/events")
    return lines


def _spaced(kind: str) -> str:
    """`launch failed` for LaunchFailed."""
    if kind in LABELS:
        return LABELS[kind]
    return "".join(f" {char.lower()}" if char.isupper() else char for char in kind).strip()


def _detail(event: StoryEvent) -> str:
    if event["kind"] == "LeftoversEnded":
        return left_behind(event["detail"])  # type: ignore[arg-type]
    if event["kind"] == "RequestGrown":
        return _grown(event["detail"] or {})
    parts = [
        f"{name.replace('_', ' ')} {','.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in (event["detail"] or {}).items()
        if not isinstance(value, bool) and value is not None and value != []
    ]
    return safe(", ".join([*parts, *(name.replace("_", " ") for name, value in _flags(event) if value)]))


def _flags(event: StoryEvent) -> list[tuple[str, object]]:
    return [(name, value) for name, value in (event["detail"] or {}).items() if isinstance(value, bool)]


def _grown(detail: Mapping[str, Any]) -> str:
    """`to 12.0G of each GPU`; `to whole GPUs`."""
    parts = ["whole GPUs"] if detail.get("is_whole_gpu") else []
    if detail.get("gpu_memory_bytes") and not parts:
        parts.append(f"{size(detail['gpu_memory_bytes'])} of each GPU")
    if detail.get("memory_bytes"):
        parts.append(f"{size(detail['memory_bytes'])} of host memory")
    return f"to {' and '.join(parts)}" if parts else ""


def left_behind(left: Leftovers) -> str:
    """`3 processes, ended by Tarmac: python loader.py (pid 12), … and 1 more`."""
    count, named = left["count"], left["processes"]
    words = ", ".join(_process(process) for process in named)
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return f"{count:,} {'process' if count == 1 else 'processes'}, ended by Tarmac: {words}{more}"


def _process(process: LeftProcess) -> str:
    command = process["command"]
    return f"pid {process['pid']}" if command is None else safe(f"{command} (pid {process['pid']})")
