"""The names of signals, without the `signal` module, whose enums take long to import."""

from __future__ import annotations

NAMES = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip


def signal_name(number: int) -> str:
    return NAMES.get(number) or f"signal {number}"
