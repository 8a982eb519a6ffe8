"""A small SVG writer for charts. Colours are classes, so that one file works on light and dark screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# One per policy. Distinguishable for colour-blind readers; dashes help in print.
COLOURS = (
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#f0894a"),
    ("#009e73", "#2fd0a5"),
    ("#8a5fa8", "#cfa3ea"),
    ("#8c6d00", "#e6c229"),
    ("#555555", "#bbbbbb"),
)
DASHES = ("none", "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2", "12 4")
FONT = "font: 12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"


def document(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escaped(title)}">\n<title>{escaped(title)}</title>\n<style>\n{_style()}</style>\n'
    )
    return f'{head}<rect class="ground" width="{width}" height="{height}"/>\n' + "\n".join(parts) + "\n</svg>\n"


def _style() -> str:
    light = ["text { " + FONT + "; fill: #222 }", ".title { font-size: 15px; font-weight: 600 }"]
    light += [".head { font-size: 13px; font-weight: 600 }", ".small { font-size: 11px }", ".faint { fill: #666 }"]
    light += [".ground { fill: #fff }", ".axis { stroke: #777; fill: none }", ".grid { stroke: #e4e4e4; fill: none }"]
    dark = ["text { fill: #e6e6e6 }", ".faint { fill: #a5a5a5 }", ".ground { fill: #16181d }"]
    dark += [".axis { stroke: #8a8a8a }", ".grid { stroke: #33363d }"]
    for index, (on_light, on_dark) in enumerate(COLOURS):
        line = f".l{index} {{ stroke: %s; fill: none; stroke-width: 2; stroke-dasharray: {DASHES[index]} }}"
        light += [f".b{index} {{ fill: {on_light} }}", line % on_light]
        dark += [f".b{index} {{ fill: {on_dark} }}", f".l{index} {{ stroke: {on_dark} }}"]
    nested = "\n".join(f"  {rule}" for rule in dark)
    return "\n".join(light) + "\n@media (prefers-color-scheme: dark) {\n" + nested + "\n}\n"


def text(x: float, y: float, words: str, *, anchor: str = "start", style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escaped(words)}</text>'


def upright(x: float, y: float, words: str) -> str:
    """Text along a vertical axis, read from bottom to top."""
    return (
        f'<text class="small faint" text-anchor="middle" transform="translate({x:.1f} {y:.1f}) rotate(-90)">'
        f"{escaped(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<path class="{style}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def curve(points: Iterable[tuple[float, float]], style: str) -> str:
    return f'<path class="{style}" d="M' + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + '"/>'


def bar(x: float, y: float, width: float, height: float, style: str, hint: str) -> str:
    """`hint` is shown when the mouse is over the bar."""
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" {size}><title>{escaped(hint)}</title></rect>'


def escaped(words: str) -> str:
    """Escaped for XML. Characters that XML cannot represent become a question mark."""
    kept = "".join(char if char.isprintable() else "?" for char in words)
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
