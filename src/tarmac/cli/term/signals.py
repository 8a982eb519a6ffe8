"""Signals without the `signal` module, because importing its enums takes longer than running a command."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from signal import SIG_DFL, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGWINCH, signal
else:
    from _signal import SIG_DFL, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGWINCH, signal

__all__ = ["SIGHUP", "SIGINT", "SIGPIPE", "SIGTERM", "SIGWINCH", "leave_to_kernel", "named", "on"]


def on(number: int, act: Callable[[int], None]) -> None:
    signal(number, lambda number, _frame: act(number))


def leave_to_kernel(number: int) -> None:
    signal(number, SIG_DFL)


def named(name: str) -> int | None:
    """The number of USR1."""
    number = getattr(__import__("_signal"), f"SIG{name}", None) if name.isalnum() else None
    return int(number) if isinstance(number, int) else None
