"""Results as a picture: a metric over a parameter, with one colour for each value of the next parameter.

Without a parameter that is a number, each job is a point at its place in the order.
"""

from __future__ import annotations

from html import escape
from math import floor, log10

from tarmac.cli.results.bars import label_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import Result

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 180, 40, 60
COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")
LOGARITHMIC = 50  # from this ratio of the largest to the smallest value on


class Axis:
    """Maps values to pixels. Values that span magnitudes get a logarithmic scale."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = min(values), max(values)
        self.is_log = low > 0 and high / low >= LOGARITHMIC
        if low == high:
            low, high = low - 0.5, high + 0.5
        self._low, self._high = (log10(low), log10(high)) if self.is_log else (low, high)
        self._first, self._last = first, last

    def at(self, value: float) -> float:
        part = ((log10(value) if self.is_log else value) - self._low) / (self._high - self._low)
        return round(self._first + part * (self._last - self._first), 1)

    def ticks(self) -> list[float]:
        if self.is_log:
            found = [10.0**power for power in range(floor(self._low), floor(self._high) + 1)]
            return [tick for tick in found if self._low - 1e-9 <= log10(tick) <= self._high + 1e-9]
        rough = (self._high - self._low) / 5
        power = 10.0 ** floor(log10(rough))
        step = next(size * power for size in (1, 2, 5, 10) if size * power >= rough)
        first = floor(self._low / step) + (0 if self._low % step == 0 else 1)
        return [number * step for number in range(first, floor(self._high / step) + 1)]


def picture(jobs: Sequence[Result], metric: str, title: str) -> str:
    points = [(job, value) for job in jobs if isinstance(value := job["metrics"].get(metric), (int, float))]
    over, by = _dimensions([job for job, _ in points])
    body = [f'<text x="{LEFT}" y="24" class="title">{escape(title)}</text>']
    if points:
        body += _drawing(points, metric, over, by)
    else:
        body.append(f'<text x="{LEFT}" y="{HEIGHT // 2}">no job has a number for {escape(metric)}</text>')
    style = "text{font:12px sans-serif;fill:#333}.title{font-size:15px}line{stroke:#ddd}circle{fill-opacity:.8}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    back = f'<style>{style}</style><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    return "\n".join([head, back, *body, "</svg>"]) + "\n"


def _drawing(points: Sequence[tuple[Result, float]], metric: str, over: str | None, by: str | None) -> list[str]:
    places = [
        float(number) if over is None else _number(job["params"][over]) or 0.0
        for number, (job, _) in enumerate(points, 1)
    ]
    across = Axis(places, LEFT, WIDTH - RIGHT)
    up = Axis([value for _, value in points], HEIGHT - BOTTOM, TOP)
    groups = list(dict.fromkeys("" if by is None else job["params"].get(by, "") for job, _ in points))
    body = []
    for tick in across.ticks():
        x = across.at(tick)
        body.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{HEIGHT - BOTTOM}"/>')
        body.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:g}</text>')
    for tick in up.ticks():
        y = up.at(tick)
        body.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>')
        body.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
    middle = (LEFT + WIDTH - RIGHT) // 2
    body.append(f'<text x="{middle}" y="{HEIGHT - 18}" text-anchor="middle">{escape(over or "job, best first")}</text>')
    body.append(f'<text x="16" y="{HEIGHT // 2}" transform="rotate(-90 16 {HEIGHT // 2})">{escape(metric)}</text>')
    for (job, value), place in zip(points, places, strict=True):
        colour = COLOURS[groups.index("" if by is None else job["params"].get(by, "")) % len(COLOURS)]
        words = escape(f"job {job['id']}: {label_of(job)}, {metric} {value:g}")
        body.append(
            f'<circle cx="{across.at(place)}" cy="{up.at(value)}" r="5" fill="{colour}"><title>{words}</title></circle>'
        )
    for number, group in enumerate(groups[: len(COLOURS)] if by is not None else ()):
        y = TOP + 12 + 20 * number
        body.append(f'<circle cx="{WIDTH - RIGHT + 24}" cy="{y - 4}" r="5" fill="{COLOURS[number]}"/>')
        body.append(f'<text x="{WIDTH - RIGHT + 36}" y="{y}">{escape(f"{by}={group}"[:22])}</text>')
    return body


def _dimensions(jobs: Sequence[Result]) -> tuple[str | None, str | None]:
    """The parameter along the axis, with the most different numbers, and the one that colours tell apart."""
    names = list(dict.fromkeys(name for job in jobs for name in job["params"]))
    values = {name: {job["params"].get(name, "") for job in jobs} for name in names}
    varied = [name for name in names if len(values[name]) > 1]
    numeric = [name for name in varied if all(_number(value) is not None for value in values[name])]
    over = max(numeric, key=lambda name: len(values[name]), default=None)
    return over, next((name for name in varied if name != over), None)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None
