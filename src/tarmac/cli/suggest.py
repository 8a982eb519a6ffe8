"""Suggests a verb or an option for a mistyped one, or for that of another tool."""

from __future__ import annotations

from tarmac.typed.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# Verbs of tsp, pueue, Slurm and other tools.
ELSEWHERE = {
    "submit": "add", "enqueue": "add", "sbatch": "add", "push": "add", "srun": "run", "exec": "run",
    "list": "ls", "jobs": "ls", "squeue": "ls", "ps": "ls", "top": "ls -w", "watch": "ls -w",
    "logs": "log", "tail": "log -f", "follow": "log -f", "cat": "log", "output": "log", "info": "show",
    "explain": "why", "describe": "show", "inspect": "show", "cancel": "kill", "scancel": "kill", "abort": "kill",
    "delete": "rm", "remove": "rm", "forget": "rm", "nvidia-smi": "gpus",
    "devices": "gpus", "config": "set", "settings": "set", "setting": "set", "drain": "gpu drain",
    "nvitop": "gpus -w", "gpustat": "gpus", "option": "set",
    "unhold": "release", "suspend": "pause", "freeze": "pause", "continue": "resume", "unpause": "resume",
    "unfreeze": "resume", "notifications": "notify", "usage": "report", "accounting": "report", "sreport": "report",
    "copy": "clone", "duplicate": "clone", "cp": "clone", "mv": "rename", "comment": "note", "label": "tag",
    "update": "edit", "modify": "edit",
    "force": "start", "restart": "retry", "requeue": "retry",
    "reservation": "reserve", "book": "reserve", "prioritize": "move", "reorder": "move",
    "daemon": "serve", "server": "serve", "shutdown": "stop", "quit": "stop", "version": "--version",
    "grid": "sweep", "multirun": "sweep", "check": "doctor", "diagnose": "doctor",
    "sacct": "history", "search": "history --search", "past": "history",
    "purge": "clean", "prune": "clean", "gc": "clean",
    "dump": "export", "save": "export",
}  # fmt: skip

# Their options; only those that the verb has are suggested.
OPTIONS_ELSEWHERE = {
    "--tail": "-n", "--head": "-n", "--max-retries": "--retry", "--retries": "--retry", "--attempts": "--retry",
    "--mail-user": "--notify", "--mail": "--notify", "--email": "--notify", "--mail-type": "--on", "--gres": "--gpus",
    "--gpus-per-node": "--gpus", "--cpus-per-task": "--cpus", "--job-name": "--name", "--chdir": "--cwd",
    "--workdir": "--cwd", "--output": "--log", "--error": "--stderr", "--export": "--env", "--dependency": "--after",
    "--exclude": "--exclude-node", "--nodelist": "--node", "--time-limit": "--time", "--timeout": "--time",
    "--partition": "--project", "--qos": "--tier", "--month": "--since", "--start": "--since", "--end": "--until",
    "--user": "--owner",
}  # fmt: skip


def nearest_option(word: str, known: Collection[str]) -> str | None:
    """An option, or `all` for --all, which selects jobs as a word."""
    meant = OPTIONS_ELSEWHERE.get(word)
    if meant in known:
        return meant
    return "`all`" if word == "--all" and "--owner" in known else nearest(word, known)


def nearest_verb(word: str, verbs: Collection[str]) -> str | None:
    return ELSEWHERE.get(word.lower()) or nearest(word.lower(), verbs)
