"""Nodes as text: host memory, and why a node is not connected."""

from __future__ import annotations

from tarmac.cli.render.text import counted, safe
from tarmac.shared.clocks import epoch, local
from tarmac.shared.units import duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tarmac.client.answers import Node


def memory(node: Node) -> str:
    available, total = node["memory_available_bytes"], node["memory_total_bytes"]
    return "not known yet" if available is None else f"{size(available)} of {size(total)} available"


def absence(node: Node, now: float) -> str:
    """Since when and why a node is not connected."""
    since = node["since"]
    words = f"not connected since {local(since)[:16]} (for {duration(max(0.0, now - epoch(since)))})"
    return f"{words}: {safe(node['problem'])}" if node["problem"] else words


def drain_words(node: Node) -> str:
    """drained: new fans (by ann)"""
    why = node.get("drain_reason")
    reason = f": {safe(why)}" if why else ""
    return f"drained{reason} (by {safe(node.get('drained_by') or 'Tarmac')})"


def summary(node: Node, now: float) -> str:
    drained = f"{drain_words(node)}; " if node.get("drained") else "watch-only; " if node.get("watch_only") else ""
    if not node["connected"]:
        return drained + absence(node, now)
    return f"{drained}agent pid {node['agent_pid']}, {counted(node['gpus'], 'GPU')}, memory {memory(node)}"


def absences(nodes: Iterable[Node], now: float) -> list[str]:
    """A line for each node on which no job can start: why, and since when."""
    found = []
    for node in nodes:
        drained = [drain_words(node)] if node.get("drained") else []
        watched = ["watch-only: no jobs start there"] if node.get("watch_only") else []
        away = [] if node["connected"] else [absence(node, now)]
        if notes := [*drained, *watched, *away]:
            found.append(f"{safe(node['name'])}: {'; '.join(notes)}")
    return found
