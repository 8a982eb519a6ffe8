"""Results as bars in the terminal, one line for each job."""

from __future__ import annotations

from tarmac.cli.render.commands import params_in_words
from tarmac.cli.render.text import cells, cut, padded, safe
from tarmac.shared.tables.results import in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import Result

MOST = 40  # lines
LEAST_BAR = 10
EIGHTHS = " ▏▎▍▌▋▊▉"


def bars(jobs: Sequence[Result], metric: str, width: int | None) -> list[str]:
    """In the order of the jobs. The shortest bar is the smallest value, unless all are above 0 and not far from it."""
    valued = [(job, value) for job in jobs if isinstance(value := job["metrics"].get(metric), (int, float))]
    if not valued:
        return [f"no job has a number for {safe(metric)}"]
    shown = valued[:MOST]
    low, high = min(value for _, value in shown), max(value for _, value in shown)
    base = 0.0 if 0 <= low < 0.8 * high else low - 0.1 * (high - low)
    labels = [label_of(job) for job, _ in shown]
    values = [in_words(value) for _, value in shown]
    columns = width or 100
    wide = max(map(len, values))
    label = min(max(map(cells, labels)), max(8, columns - wide - LEAST_BAR - 4))
    room = max(LEAST_BAR, columns - label - wide - 4)
    scale = high - base or 1.0
    lines = [
        f"{padded(cut(text, label), label)}  {value:>{wide}}  {_bar((number - base) / scale, room)}".rstrip()
        for text, value, (_, number) in zip(labels, values, shown, strict=True)
    ]
    rest = len(valued) - len(shown)
    return [f"{safe(metric)}", *lines, *([f"… {rest} more"] if rest else [])]


def label_of(job: Result) -> str:
    """What tells the job from the others."""
    if job["params"]:
        return safe(params_in_words(job["params"]))
    return f"[{job['index']}]" if job["index"] is not None else safe(job["name"] or str(job["id"]))


def _bar(part: float, room: int) -> str:
    eighths = round(max(0.0, min(1.0, part)) * room * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
