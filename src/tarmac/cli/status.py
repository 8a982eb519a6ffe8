"""`tarmac status`: the controller, the agent and the queue in a few lines."""

from __future__ import annotations

from tarmac.cli.grammar import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.terminal import has_colours, out, out_json, paint
from tarmac.cli.text import safe, size
from tarmac.cli.times import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tarmac.cli.grammar import Values


def run(values: Values, _: list[str]) -> int:
    client = connect()
    status = client.status()
    if values["json"]:
        out_json(status)
        return 0
    gpus = client.call("GET", "/gpus")["gpus"]
    colours = has_colours()
    pairs = list(_facts(status, gpus))
    wide = max(len(name) for name, _ in pairs)
    out("".join(f"{paint(name.ljust(wide), 'dim') if colours else name.ljust(wide)}  {text}\n" for name, text in pairs))
    return 0


def _facts(status: dict[str, Any], gpus: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    yield "queue", f"{status['running']} running, {status['queued']} queued{_mode(status)}"
    taken = sum(bool(gpu["jobs"]) for gpu in gpus)
    yield "gpus", f"{taken} of {len(gpus)} in use" if gpus else "none; `tarmac gpus` says why"
    up = f", up {duration(status['uptime_s'])}" if status.get("uptime_s") is not None else ""
    yield "controller", f"pid {status['controller_pid']}, version {status['version']}{up}"
    yield "agent", _agent(status)
    yield "containment", containment(status)
    yield "policy", safe(str(status["policy"]))
    if status.get("home"):
        kept = f", {size(status['database_bytes'])} of database" if status.get("database_bytes") else ""
        yield "state", safe(str(status["home"])) + kept
    if status.get("degraded"):
        yield "degraded", safe(str(status["degraded"]))


def _mode(status: dict[str, Any]) -> str:
    words = ", PAUSED" if status["paused"] else ""
    words += ", DRAINING" if status.get("draining") else ""
    reason = status.get("paused_reason")
    return words + (f": {safe(reason)}" if words and reason else "")


def _agent(status: dict[str, Any]) -> str:
    if not status["agent_pid"]:
        return "not connected; `tarmac log agent` says more"
    silent = "" if status.get("agent_answers", True) else " does not answer; `tarmac doctor` says what to do"
    return f"pid {status['agent_pid']}{silent}"


def containment(status: dict[str, Any]) -> str:
    kind = status["containment"]
    if kind == "cgroup":
        return "cgroup: a job's processes cannot get away from it"
    if kind == "scan":
        reason = status.get("containment_reason")
        return "scan: processes are found by session and environment mark" + (f" ({safe(reason)})" if reason else "")
    return "not known until the agent is connected"


VERB = Verb(
    "status",
    "the controller, the agent and the queue in a few lines",
    usage=("tarmac status [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac status --json | jq .queued", "how many jobs wait"),),
)
