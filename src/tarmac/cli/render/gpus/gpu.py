"""One GPU as text: model, memory, state, jobs and processes.

A usable GPU with only Tarmac's processes has no notes.
"""

from __future__ import annotations

from tarmac.cli.render.text import safe
from tarmac.shared.clocks import epoch, local
from tarmac.shared.units import duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.answers import Process
    from tarmac.client.records import Gpu

    Note = tuple[str, str]  # style, words

BAR = 10
EIGHTHS = " ▏▎▍▌▋▊▉█"
BOOKED, FREE = "░", "·"
PROCESSES = 3  # shown per GPU


def notes_of(gpu: Gpu, at: float) -> list[Note]:
    """Why it is not usable, warnings about its jobs, and foreign processes."""
    notes: list[Note] = [] if gpu.index is not None else [("dim", gpu.uuid)]
    if gpu.stale_s:
        notes.append(("yellow", f"last read {duration(gpu.stale_s)} ago"))
    health, reason, held = gpu.health, gpu.reason, gpu.held
    if health:
        since = gpu.raw.get("gone_since")
        notes.append(("bold red", f"gone since {local(since)[:16]}: {health}" if since else f"unhealthy: {health}"))
    if gpu.drained and not (health and gpu.drained_by is None and reason in {health, None}):
        notes.append(("yellow", _drained(gpu)))
    notes += [("yellow", words) for words in gpu.warnings or ()]
    if held:
        notes.append(("magenta", held))
    if gpu.reserved:
        from tarmac.cli.render.admin.reservations import of_gpu

        notes.append(("cyan", of_gpu(gpu.reserved, at)))
    others = [who for who in gpu.processes if who.get("job") is None and not who.get("holds_gpu")]
    notes += [("dim", _process(who, at)) for who in others[:PROCESSES]]
    if len(others) > PROCESSES:
        notes.append(("dim", f"and {len(others) - PROCESSES} more processes"))
    return [(style, safe(words)) for style, words in notes]


def _drained(gpu: Gpu) -> str:
    if gpu.reason:
        return f"drained: {gpu.reason}"
    return f"drained by {gpu.drained_by}" if gpu.drained_by else "drained"


def _process(who: Process, at: float) -> str:
    words = f"{who['user'] or '?'}: {who['command'] or '?'} (pid {who['pid']}"
    if who.get("memory_bytes") is not None:
        words += f", {size(who['memory_bytes'])}"
    if (since := who.get("started_at")) is not None:
        words += f", for {duration(at - epoch(since))}"
    return words + (", ignored)" if who.get("ignored") else ")")


def number(gpu: Gpu) -> str:
    """The index; empty for a GPU that is gone and whose index another GPU has. Its notes then show the UUID."""
    return "-" if gpu.index is None else str(gpu.index)


def model(gpu: Gpu) -> str:
    """The model without the maker's common prefix."""
    return (gpu.model or "?").removeprefix("NVIDIA ")


def with_unit(number: float | None, unit: str) -> str:
    return "-" if number is None else f"{number:.0f}{unit}"


def memory(gpu: Gpu) -> str:
    used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
    if not total:
        return "?"
    return f"{bar((used or 0) / total, (gpu.booked_bytes or 0) / total)} {size(used):>5}/{size(total)}"


def bar(used: float, booked: float = 0.0, wide: int = BAR) -> str:
    """Solid for used, shaded for booked beyond that."""
    eighths = round(min(1.0, max(0.0, used)) * wide * 8)
    filled = "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")
    shaded = max(0, round(min(1.0, booked) * wide) - len(filled))
    return filled + BOOKED * shaded + FREE * (wide - len(filled) - shaded)


def fullness(gpu: Gpu) -> str:
    used = (gpu.memory_used_bytes or 0) / (gpu.memory_total_bytes or 1)
    return "red" if used > 0.9 else "yellow" if used > 0.5 else "green"


def gpu_state(gpu: Gpu) -> str:
    return "unhealthy" if gpu.health else "drained" if gpu.drained else "held" if gpu.held else "-"


def state_style(gpu: Gpu) -> str | None:
    word = gpu_state(gpu)
    return {"unhealthy": "bold red", "drained": "yellow", "held": "magenta"}.get(word) or (
        "green" if gpu.jobs else None
    )
