"""Spans of time for people and for axes: 45s, 12m, 3.5h, 2d; and round steps between them."""

from __future__ import annotations

UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "m"))
STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000,
    1728000, 4320000, 8640000,
)  # fmt: skip


def short_span(seconds: float | None) -> str:
    """At most five characters: two digits that matter."""
    if seconds is None:
        return "-"
    for size, unit in UNITS:
        if seconds >= size:
            number = seconds / size
            return f"{number:.0f}{unit}" if number >= 10 or number == int(number) else f"{number:.1f}{unit}"
    return f"{seconds:.0f}s" if seconds >= 10 or seconds == int(seconds) else f"{seconds:.1f}s"


def span_ticks(longest_s: float, most: int = 5) -> list[float]:
    """From 0 in round steps, at most so many of them, to where the longest fits under."""
    step = next((step for step in STEPS_S if step * most >= longest_s), 0) or -(-longest_s // most)
    count = max(1, int(-(-longest_s // step)))
    return [float(step * number) for number in range(count + 1)]
