"""The machinery: the agent, the disk, and what only happens when Tarmac itself fails."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "agent.unreachable": Message(
        "the agent{node:prefixed  of node } is unreachable", "try again in a moment; run `tarmac log agent` to see why"
    ),
    "server.cannot_write": Message("requests cannot be accepted now: {problem}", "{problem:hint}"),
    "server.degraded": Message("{problem} (since {since})"),
    "job.stale_unwritten": Message("this state may be out of date: {problem}"),
    "job.stale_away": Message("{away}; the job is shown as of then and may well go on there; its GPUs stay booked"),
    "nodes.away_with_jobs": Message("{away}; {jobs:plural its job is|its jobs are} shown as of then: {jobs:jobs}"),
    "wait.unwritten": Message("waiting: {problem}; the end of a job is known once the state can be written again"),
    "wait.paused": Message(
        "waiting: {by} paused the queue{since:prefixed  at }{reason:prefixed : }; "
        "no job starts until `tarmac queue resume`"
    ),
    "wait.held": Message(
        "waiting: {jobs:jobs} {jobs:plural is|are} held; "
        "run `tarmac release {first}` to release {jobs:plural it|the first}"
    ),
    "wait.node_away": Message("waiting: the agent of node {node} is not connected; run `tarmac doctor` to see why"),
    "agent.silent": Message(
        "the agent{node:prefixed  of node } does not answer",
        "check that it is not stopped and that no disk hangs; run `tarmac log agent` to see more",
    ),
    "agent.silent_for": Message(
        "the agent{node:prefixed  of node } has not answered for {seconds:in_words}; states and readings are that old",
        "run `tarmac doctor` to see what to do",
    ),
    "agent.none_connected": Message(
        "no machine is reachable: the agent is not connected", "run `tarmac log agent` to see why"
    ),
    "node.not_configured": Message("node {node} is not configured", "add it to the config file again"),
    "store.removed": Message(
        "{path} was removed, and cannot be restored: {error}",
        "do not stop Tarmac: the controller still has everything. Free disk space, or restore its directory",
    ),
    "store.replaced": Message(
        "{path} was replaced by another file while it was in use; everything up to now is in {saved}",
        "move one of the two to {path} after `tarmac stop`; running jobs continue",
    ),
    "store.damaged": Message(
        "tarmac.db was overwritten or damaged while it was in use: {error}",
        "run `tarmac stop`, then restore it from a backup, or move it away with its log; running jobs continue",
    ),
    "store.cannot_write": Message(
        "the state could not be written: {error}",
        "nothing was accepted, and running jobs continue; free disk space, then try again",
    ),
    "server.too_many_connections": Message(
        "too many connections are open", "end some of the commands that wait for jobs, then try again"
    ),
    "server.crowded": Message(
        "too many commands wait already",
        "end some of them, then try again; `tarmac status`, `tarmac ls` and `tarmac kill` still work",
    ),
    "server.too_many_bodies": Message("too many large requests are under way", "try again in a moment"),
    "server.failed": Message("the controller failed: {error}", "run `tarmac log controller` to see where"),
    "server.no_log": Message("the controller has no log file", "it runs in a terminal (`tarmac serve`) and logs there"),
}
