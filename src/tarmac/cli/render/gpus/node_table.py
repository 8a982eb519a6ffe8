"""Nodes as a table, and one node as lines."""

from __future__ import annotations

from tarmac.cli.render.gpus.nodes import absence, drain_words, memory
from tarmac.cli.render.table import Column, lines
from tarmac.cli.render.text import safe
from tarmac.shared.clocks import epoch, local
from tarmac.shared.units import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.client.answers import Node

HUES = {
    "reachable": "green",
    "drained": "yellow",
    "rebooted": "yellow",
    "unreachable": "red",
    "needs-login": "red",
    "removed": "red",
}


def table(nodes: Sequence[Node], *, width: int | None, has_colours: bool) -> list[str]:
    hues = [HUES.get(node["state"]) for node in nodes] if has_colours else None
    columns = [
        Column("NODE", [safe(node["name"]) for node in nodes]),
        Column("STATE", [_state(node) for node in nodes], styles=hues),
        Column("GPUS", [str(node["gpus"]) for node in nodes], is_right=True),
        Column("RUNNING", [str(node["running"]) for node in nodes], is_right=True),
        Column("QUEUED", [str(node["queued"]) for node in nodes], is_right=True),
        Column("MEMORY", [memory(node) if node["connected"] else "-" for node in nodes]),
        Column("NOTE", [_note(node) for node in nodes], least=12),
    ]
    return lines(columns, width)


def _state(node: Node) -> str:
    return f"{node['state']}, watch-only" if node["watch_only"] else node["state"]


def _note(node: Node) -> str:
    """Why no job starts there."""
    notes = [drain_words(node)] if node["drained"] else []
    if node["state"] not in {"reachable", "drained"}:
        notes.append(f"since {local(node['since'])[:16]}: {safe(node['reason'] or '?')}")
    return "; ".join(notes)


def facts(node: Node, now: float) -> Iterator[tuple[str, str]]:
    yield "node", safe(node["name"])
    yield "kind", node["kind"]
    if node["host"]:
        user = f" as {safe(node['user'])}" if node["user"] else ""
        port = f", port {node['port']}" if node["port"] else ""
        yield "host", f"{safe(node['host'])}{user}{port}"
    if node["address"] and node["address"] != node["host"]:
        yield "address", safe(node["address"])
    yield "state", _state(node)
    if node["drained"]:
        yield "drain", drain_words(node)
    if node["connected"]:
        since = node["connected_at"] or node["since"]
        yield "connected", f"since {local(since)[:16]} (for {duration(max(0.0, now - epoch(since)))})"
        yield "agent", f"pid {node['agent_pid']}, version {safe(node['version'] or '?')}"
        yield "containment", safe(node["containment"] or "?")
    else:
        yield "connected", absence(node, now)
    yield "gpus", str(node["gpus"])
    yield "jobs", f"{node['running']} running, {node['queued']} queued"
    if node["cpus"] is not None:
        yield "cpus", str(node["cpus"])
    yield "memory", memory(node)
    if node["boot_id"]:
        yield "boot id", safe(node["boot_id"])
    for warning in node["warnings"]:
        yield "warning", safe(warning)
