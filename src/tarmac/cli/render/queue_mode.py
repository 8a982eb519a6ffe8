"""The mode of the queue as text, for `queue`, `ls` and `status` when it is paused or draining."""

from __future__ import annotations

from tarmac.cli.render.text import safe, wrapped
from tarmac.shared.clocks import epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client.records import Queue


def mode(queue: Queue) -> str | None:
    """`paused since 14:30 by ann: new driver`; None in normal operation."""
    if not queue["paused"] and not queue["draining"]:
        return None
    if queue["paused"] and queue["draining"]:
        words = "paused and draining"
    else:
        words = "paused" if queue["paused"] else "draining"
    if queue["since"]:
        from time import time

        from tarmac.shared.clocks import clock

        words += f" since {clock(epoch(queue['since']), time())}"
    words += f" by {queue['by']}" if queue["by"] else " by Tarmac"
    return safe(words + (f": {queue['reason']}" if queue["reason"] else ""))


def alarm(queue: Queue, width: int | None = None) -> list[str]:
    """A warning with the mode, its effects and the remedy. Empty in normal operation."""
    words = mode(queue)
    if words is None:
        return []
    effects = ["no job starts"] * bool(queue["paused"]) + ["no new jobs are accepted"] * bool(queue["draining"])
    verb = "has been" if queue["since"] else "is"
    effect = f"{' and '.join(effects)} until `tarmac queue resume`"
    second = [f"  {line}" for line in ([effect] if width is None else wrapped(effect, max(20, width - 2)))]
    return [*folded(f"The queue {verb} {words}", width, 2), *second]


def folded(text: str, width: int | None, indent: int) -> list[str]:
    """Wrapped at words, with later lines indented; one line if `width` is None."""
    if width is None:
        return [text]
    first, *rest = wrapped(text, max(20, width - indent))
    return [first, *[" " * indent + line for line in rest]]


def facts(queue: Queue) -> Iterator[tuple[str, str, str | None]]:
    words = mode(queue)
    yield "queue", words or "open", "bold red" if words else "green"
    yield "jobs", f"{queue['running']:,} running, {queue['queued']:,} queued", None
    yield "policy", safe(str(queue["policy"])), None
    yield "order", safe(str(queue["order"])), None
