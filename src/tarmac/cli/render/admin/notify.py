"""The targets of notifications as a table."""

from __future__ import annotations

from tarmac.cli.render.table import Column, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import NotifyTarget


def table(targets: Sequence[NotifyTarget], *, width: int | None, has_colours: bool) -> list[str]:
    hues = ["red" if each["error"] else None for each in targets] if has_colours else None
    columns = [
        Column("TARGET", [f"{each['name']}{'*' if each['default'] else ''}" for each in targets], least=8),
        Column("OWNER", [each["owner"] or "all" for each in targets], least=4),
        Column("URL", [each["url"] or "not in the config file" for each in targets], least=12),
        Column("WAITING", [str(each["waiting"]) for each in targets], is_right=True),
        Column("UNDELIVERED", [str(each["failed"]) for each in targets], is_right=True),
        Column("LAST ERROR", [each["error"] or "" for each in targets], styles=hues, least=12),
    ]
    return lines(columns, width, ("OWNER", "URL"))
