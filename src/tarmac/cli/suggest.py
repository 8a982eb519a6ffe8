"""Suggests a verb for a mistyped one, or for that of another tool."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Verbs of tsp, pueue, Slurm and other tools.
ELSEWHERE = {
    "submit": "add", "enqueue": "add", "sbatch": "add", "push": "add", "srun": "run", "exec": "run",
    "list": "ls", "jobs": "ls", "squeue": "ls", "ps": "ls", "top": "ls -w", "watch": "ls -w", "history": "ls -a",
    "logs": "log", "tail": "log -f", "follow": "log -f", "cat": "log", "output": "log", "info": "show",
    "explain": "why", "describe": "show", "inspect": "show", "cancel": "kill", "scancel": "kill", "abort": "kill",
    "delete": "rm", "remove": "rm", "forget": "rm", "clean": "rm --state ended", "nvidia-smi": "gpus",
    "devices": "gpus", "config": "set", "settings": "set", "setting": "set", "drain": "gpu drain",
    "nvitop": "gpus -w", "gpustat": "gpus", "option": "set",
    "unhold": "release", "suspend": "pause", "freeze": "pause", "continue": "resume", "unpause": "resume",
    "unfreeze": "resume", "notifications": "notify", "usage": "report", "accounting": "report", "sreport": "report",
    "update": "edit", "modify": "edit",
    "force": "start", "rerun": "retry", "restart": "retry", "requeue": "retry",
    "reservation": "reserve", "book": "reserve", "prioritize": "move", "reorder": "move",
    "daemon": "serve", "server": "serve", "shutdown": "stop", "quit": "stop", "version": "--version",
    "check": "doctor", "diagnose": "doctor",
}  # fmt: skip


def nearest(word: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    matches = get_close_matches(word, known, n=1, cutoff=0.7)
    return matches[0] if matches else None


def nearest_verb(word: str, verbs: Sequence[str]) -> str | None:
    return ELSEWHERE.get(word.lower()) or nearest(word.lower(), verbs)
