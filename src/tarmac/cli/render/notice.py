"""The notice of the admins, as `ls` and `gpus` show it above their tables."""

from __future__ import annotations

from tarmac.cli.render.queue_mode import folded
from tarmac.cli.render.text import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.answers import Notice


def notice_lines(notice: Notice | None, width: int | None, *, has_colours: bool) -> list[str]:
    """`Notice: driver update at 18:00 (root, 14:30)`; empty without a notice."""
    if notice is None:
        return []
    from time import time

    from tarmac.cli.term.terminal import paint
    from tarmac.shared.clocks import clock, epoch

    text = " ".join(notice["text"].split("\n"))
    since = clock(epoch(notice["at"]), time())
    lines = folded(safe(f"Notice: {text} ({notice['by']}, {since})"), width, 2)
    return [paint(line, "yellow") if has_colours else line for line in lines]


def show_notice(notice: Notice | None) -> None:
    """On stderr, so that scripts can still read the table."""
    from tarmac.cli.term.terminal import STDERR, err, has_colours, width

    err("".join(f"{line}\n" for line in notice_lines(notice, width(STDERR), has_colours=has_colours(STDERR))))
