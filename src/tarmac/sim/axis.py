"""Round steps for the axes of charts that show durations."""

from __future__ import annotations

STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000,
    1728000, 4320000, 8640000,
)  # fmt: skip


def span_ticks(longest_s: float, most: int = 5) -> list[float]:
    """Ticks from 0 in at most `most` round steps, up to at least `longest_s`."""
    step = next((step for step in STEPS_S if step * most >= longest_s), 0) or -(-longest_s // most)
    count = max(1, int(-(-longest_s // step)))
    return [float(step * number) for number in range(count + 1)]
