"""The screen of `tarmac gpus -w`: a table, or a grid if there are many GPUs."""

from __future__ import annotations

from time import time

from tarmac.cli.render.gpus.gpus import place, summary, table
from tarmac.cli.render.gpus.nodes import absences
from tarmac.cli.render.notice import notice_lines
from tarmac.cli.render.text import cut
from tarmac.cli.term.terminal import has_colours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.answers import Notice
    from tarmac.client.records import Gpu


class LiveGpus:
    event = b"event: gpu"
    is_moving = True  # the controller computes how long a foreign process has held a GPU

    def __init__(self, node: str | None = None) -> None:
        self._node = node  # only the GPUs of this one
        self._gpus: list[Gpu] = []
        self._notice: Notice | None = None
        self._away: list[str] = []  # a line for each node that is not connected

    def fetch(self, client: Client) -> None:
        found = client.gpu_overview()
        if self._node is not None:
            found = found.of(self._node)
        self._gpus, self._notice = sorted(found.gpus, key=place), found.notice
        self._away = absences(found.nodes, time())

    def head(self) -> str:
        return summary(self._gpus)

    def rows(self, columns: int, lines: int) -> list[str]:
        away = [cut(line, columns) for line in self._away]
        notice = notice_lines(self._notice, columns, has_colours=has_colours())
        if not self._gpus:
            return [*notice, *away]
        rows = [*notice, *table(self._gpus, width=columns, has_colours=has_colours()), *away]
        if len(rows) <= lines:
            return rows
        from tarmac.cli.render.gpus.gpu_grid import grid

        left = max(1, lines - len(notice) - len(away))
        return [*notice, *grid(self._gpus, width=columns, lines=left, has_colours=has_colours()), *away]
