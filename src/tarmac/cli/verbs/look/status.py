"""`tarmac status`: show the state of the controller, the agent and the queue."""

from __future__ import annotations

from time import time

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.gpus.nodes import absence, drain_words, memory, summary
from tarmac.cli.render.queue_mode import folded
from tarmac.cli.render.text import counted, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width
from tarmac.shared.units import duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client.answers import Node, Status
    from tarmac.client.records import Gpu


def run(values: Values, _: list[str]) -> int:
    client = connect()
    status = client.status()
    if values["json"]:
        out_json(status)
        return 0
    gpus = client.gpus()
    out("".join(f"{line}\n" for line in lines(status, gpus, width=width(), has_colours=has_colours())))
    return 0


def lines(status: Status, gpus: list[Gpu], *, width: int | None, has_colours: bool) -> Iterator[str]:
    """One line per fact. Long lines wrap, except paths, which users may want to copy."""
    pairs = list(_facts(status, gpus))
    wide = max(len(name) for name, _ in pairs)
    for name, text in pairs:
        first, *rest = [text] if name == "state" else folded(text, width, wide + 2)
        label = name.ljust(wide)
        yield f"{paint(label, 'dim') if has_colours else label}  {first}"
        yield from rest


def _facts(status: Status, gpus: list[Gpu]) -> Iterator[tuple[str, str]]:
    yield "queue", f"{status['running']} running, {status['queued']} queued{_mode(status)}"
    for one in status.get("suspended", []):
        yield "suspended", safe(f"{one['owner']}: {one['reason']}; `tarmac queue resume` lets the waiting jobs start")
    taken = sum(bool(gpu.jobs) for gpu in gpus)
    yield "gpus", f"{taken} of {len(gpus)} in use" if gpus else "none; run `tarmac gpus` to see why"
    up = f", up {duration(status['uptime_s'])}" if status.get("uptime_s") is not None else ""
    yield "controller", f"pid {status['controller_pid']}, version {status['version']}{up}"
    yield "agent", _agent(status)
    yield "containment", containment(status)
    yield from _nodes(status.get("nodes") or [])
    yield "policy", safe(str(status["policy"]))
    yield "order", safe(str(status["order"]))
    if status.get("home"):
        kept = f", {size(status['database_bytes'])} of database" if status.get("database_bytes") else ""
        yield "state", safe(str(status["home"])) + kept
    if status.get("notifications"):
        yield "notify", _notifications(status["notifications"] or {})
    if status.get("degraded"):
        yield "degraded", safe(str(status["degraded"]))


def _notifications(found: Mapping[str, Any]) -> str:
    counts = [f"{counted(found['waiting'], 'message')} waiting"] if found["waiting"] else []
    counts += [f"{found['failed']} not delivered"] if found["failed"] else []
    error = f"; {found['target']}: {found['error']}" if found["error"] else ""
    others = [name for name in found.get("failing", ()) if name != found["target"]]
    more = f"; also failing: {', '.join(others)}" if others else ""
    return safe(", ".join(counts) + error + more)


def _nodes(nodes: list[Node]) -> Iterator[tuple[str, str]]:
    """The memory of the host; with several nodes, a line for each."""
    if len(nodes) == 1:
        yield "memory", memory(nodes[0])
        if nodes[0].get("drained"):
            yield f"node {safe(nodes[0]['name'])}", drain_words(nodes[0])
        return
    for node in nodes:
        yield f"node {safe(node['name'])}", summary(node, time())


def _mode(status: Status) -> str:
    modes = ["PAUSED"] * bool(status["paused"]) + ["DRAINING"] * bool(status.get("draining"))
    reason = status.get("paused_reason")
    return (f", {' and '.join(modes)}" + (f": {safe(reason)}" if reason else "")) if modes else ""


def _agent(status: Status) -> str:
    if not status["agent_pid"]:
        nodes = status.get("nodes")
        return absence(nodes[0], time()) if nodes else "not connected; see `tarmac log agent`"
    silent = "" if status.get("agent_answers", True) else " does not answer; run `tarmac doctor`"
    return f"pid {status['agent_pid']}{silent}"


def containment(status: Mapping[str, Any]) -> str:
    kind = status["containment"]
    if kind == "cgroup":
        return "cgroup: no process of a job can escape"
    if kind == "scan":
        reason = status.get("containment_reason")
        return "scan: processes are found by session and environment mark" + (f" ({safe(reason)})" if reason else "")
    return "unknown until the agent is connected"


VERB = Verb(
    "status",
    "show the state of the controller, the agent and the queue",
    usage=("tarmac status [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac status --json | jq .queued", "the number of waiting jobs"),),
)
