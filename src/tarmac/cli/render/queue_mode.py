"""The mode of the queue as text, for `queue`, `ls` and `status`: paused, draining, and suspended users."""

from __future__ import annotations

from tarmac.cli.render.text import safe, wrapped
from tarmac.shared.clocks import epoch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client.answers import Queue


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
    """Warnings about a paused or draining queue and suspended users, with their effects and the remedy."""
    return [*_alarm_of_mode(queue, width), *_alarm_of_owners(queue, width)]


def _alarm_of_owners(queue: Queue, width: int | None) -> list[str]:
    lines: list[str] = []
    for one in queue.get("suspended", []):
        lines += folded(safe(f"The jobs of {one['owner']} do not start: {one['reason']}"), width, 2)
        remedy = (
            f"once the cause is fixed, {one['owner']} or an admin can run `tarmac queue resume --owner {one['owner']}`"
        )
        lines += folded(safe(f"  {remedy}"), width, 2)
    return lines


def _alarm_of_mode(queue: Queue, width: int | None) -> list[str]:
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
    for one in queue.get("suspended", []):
        yield "suspended", safe(f"{one['owner']}: {one['reason']}"), "bold red"
    yield "jobs", f"{queue['running']:,} running, {queue['queued']:,} queued", None
    yield "policy", safe(str(queue["policy"])), None
    yield "order", safe(str(queue["order"])), None
