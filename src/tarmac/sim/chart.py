"""A chart that compares policies: waiting times, their distribution, and GPU use over time."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING

from tarmac.shared.units import short_duration
from tarmac.sim.axis import span_ticks
from tarmac.sim.figures import waits_of
from tarmac.sim.svg import bar, curve, document, line, text, upright

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.sim.comparison import Scenario

WIDTH, HEIGHT = 920, 660
LEFT, RIGHT = 70, 24
MOST_DRAWN = 6  # the number of colours
POINTS = 160  # per curve; more would not be visible
STRETCHES = 60  # intervals of time: enough to show a day, few enough to read six curves
MARKS_S = (1, 10, 60, 600, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400)


class Frame:
    """A rectangle with axes. Coordinates inside it are fractions of its sides, from the lower left corner."""

    def __init__(self, x: float, y: float, width: float, height: float) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height

    def at(self, across: float, up: float) -> tuple[float, float]:
        return self.x + across * self.width, self.y + (1 - up) * self.height

    def drawn(self, head: str, x_title: str, y_title: str) -> Iterator[str]:
        (left, bottom), (right, top) = self.at(0, 0), self.at(1, 1)
        yield line(left, bottom, right, bottom, "axis")
        yield line(left, bottom, left, top, "axis")
        yield text(left - 46, top - 14, head, style="head")
        yield text((left + right) / 2, bottom + 36, x_title, anchor="middle", style="small faint")
        yield upright(left - 50, (top + bottom) / 2, y_title)

    def mark_y(self, up: float, words: str) -> Iterator[str]:
        x, y = self.at(0, up)
        if up > 0:
            yield line(x, y, x + self.width, y, "grid")
        yield text(x - 7, y + 4, words, anchor="end", style="small")

    def mark_x(self, across: float, words: str) -> Iterator[str]:
        x, y = self.at(across, 0)
        yield line(x, y, x, y + 4, "axis")
        yield text(x, y + 17, words, anchor="middle", style="small")


def picture(scenarios: Sequence[Scenario], title: str) -> str:
    scenarios = scenarios[:MOST_DRAWN]
    half = (WIDTH - 2 * LEFT - RIGHT - 30) / 2
    places = _legend_places(scenarios)
    down = places[-1][1] - places[0][1]  # the height of further rows of the legend
    bars, spread = Frame(LEFT, 110 + down, half, 190), Frame(WIDTH - RIGHT - half, 110 + down, half, 190)
    busy = Frame(LEFT, 400 + down, WIDTH - LEFT - RIGHT, 190)
    parts = [text(24, 32, title, style="title"), *_legend(scenarios, places)]
    parts += [*_bars(bars, scenarios), *_spread(spread, scenarios), *_busy(busy, scenarios)]
    return document(WIDTH, HEIGHT + down, title, parts)


def _legend_places(scenarios: Sequence[Scenario]) -> list[tuple[float, int]]:
    """Where each label begins; a row that is full is continued below."""
    places, x, y = [], 24.0, 54
    for scenario in scenarios:
        wide = 33 + 7.2 * len(scenario.label)
        if x > 24 and x + wide > WIDTH:
            x, y = 24.0, y + 20
        places.append((x, y))
        x += wide + 24
    return places


def _legend(scenarios: Sequence[Scenario], places: Sequence[tuple[float, int]]) -> Iterator[str]:
    for index, (scenario, (x, y)) in enumerate(zip(scenarios, places, strict=True)):
        yield line(x, y, x + 26, y, f"l{index}")
        yield text(x + 33, y + 4, scenario.label)


def _bars(frame: Frame, scenarios: Sequence[Scenario]) -> Iterator[str]:
    groups = [
        ("mean", [scenario.figures.waits.mean_s or 0.0 for scenario in scenarios]),
        ("median", [scenario.figures.waits.median_s or 0.0 for scenario in scenarios]),
        ("95 %", [scenario.figures.waits.p95_s or 0.0 for scenario in scenarios]),
    ]
    ticks = span_ticks(max(value for _, values in groups for value in values))
    yield from (part for tick in ticks for part in frame.mark_y(tick / ticks[-1], short_duration(tick)))
    for place, (name, values) in enumerate(groups):
        x, bottom = frame.at(place / len(groups), 0)
        room = frame.width / len(groups)
        wide = min(34.0, room * 0.84 / len(values))
        first = x + (room - wide * len(values)) / 2
        yield text(x + room / 2, bottom + 17, name, anchor="middle", style="small")
        for index, value in enumerate(values):
            height = value / ticks[-1] * frame.height
            hint = f"{scenarios[index].label}: {name} {short_duration(value)}"
            yield bar(first + index * wide + 1, bottom - height, wide - 2, height, f"b{index}", hint)
            if wide >= 26:
                yield text(first + (index + 0.5) * wide, bottom - height - 4, short_duration(value), anchor="middle",
                           style="small")  # fmt: skip
    yield from frame.drawn("Waiting time", "of all jobs", "time from submit to start")


def _spread(frame: Frame, scenarios: Sequence[Scenario]) -> Iterator[str]:
    """The fraction of jobs that waited at most this long. Logarithmic, because waits range from seconds to days."""
    longest_s = max(10.0, *[scenario.figures.waits.p99_s or 0.0 for scenario in scenarios])

    def across(wait_s: float) -> float:
        return min(1.0, log10(max(1.0, wait_s)) / log10(longest_s))

    for part in range(0, 101, 25):
        yield from frame.mark_y(part / 100, f"{part} %")
    for mark in MARKS_S:
        if mark <= longest_s:
            yield from frame.mark_x(across(mark), short_duration(mark))
    for index, scenario in enumerate(scenarios):
        waits = waits_of(scenario.outcome, range(len(scenario.outcome.trace)))
        steps = sorted({len(waits) * step // POINTS for step in range(1, POINTS + 1)} - {0})
        points = [(across(waits[step - 1]), step / len(waits)) for step in steps]
        begin = (0.0, sum(wait <= 1 for wait in waits) / len(waits) if waits else 0.0)
        yield curve([frame.at(*point) for point in [begin, *[p for p in points if p[0] > 0 and p[1] > begin[1]]]],
                    f"l{index}")  # fmt: skip
    yield from frame.drawn("Jobs that had started", "waited at most (logarithmic)", "fraction of all jobs")


def _busy(frame: Frame, scenarios: Sequence[Scenario]) -> Iterator[str]:
    begins_at = min(scenario.outcome.begins_at for scenario in scenarios)
    length_s = max(scenario.outcome.ends_at for scenario in scenarios) - begins_at or 1.0
    for part in range(0, 101, 25):
        yield from frame.mark_y(part / 100, f"{part} %")
    for tick in span_ticks(length_s, most=8):
        if tick <= length_s:
            yield from frame.mark_x(tick / length_s, short_duration(tick))
    for index, scenario in enumerate(scenarios):
        loads = scenario.outcome.mean_loads(begins_at, begins_at + length_s, STRETCHES)
        gpus = scenario.outcome.gpus or 1
        while len(loads) > 1 and not loads[-1]:
            loads.pop()  # this policy finished before the others
        points = [frame.at((number + 0.5) / STRETCHES, load / gpus) for number, load in enumerate(loads)]
        yield curve(points, f"l{index}")
    yield from frame.drawn("GPUs in use", "time since the first submit", "fraction of all GPUs")
