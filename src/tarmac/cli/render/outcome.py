"""The state of a job in a few words, and the colour it has everywhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

COLOURS = {
    "running": "green", "starting": "green", "stopping": "yellow", "paused": "yellow", "queued": "cyan",
    "held": "magenta", "draft": "magenta", "failed": "red", "unknown": "bold red", "cancelled": "dim",
    "succeeded": "dim",
}  # fmt: skip
SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip


def state_words(job: Mapping[str, Any]) -> str:
    """`failed, exit 3`; `failed, SIGSEGV`; `failed, launch`; `failed, timeout`; otherwise the state alone."""
    state: str = job["state"]
    if state != "failed":
        return state
    if job.get("reason") == "timeout":
        return "failed, timeout"
    if job.get("signal") is not None:
        return f"failed, {SIGNALS.get(job['signal']) or 'signal {}'.format(job['signal'])}"
    if job.get("exit_code") is not None:
        return f"failed, exit {job['exit_code']}"
    return f"failed, {job.get('reason') or 'no reason known'}"
