"""The screen of `tarmac gpus -w`: a table, or a grid if there are many GPUs."""

from __future__ import annotations

from tarmac.cli.render.gpus import place, summary, table
from tarmac.cli.term.terminal import has_colours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client import Client
    from tarmac.client.records import Gpu


class LiveGpus:
    event = b"event: gpu"
    is_moving = True  # the controller computes how long a foreign process has held a GPU

    def __init__(self) -> None:
        self._gpus: list[Gpu] = []

    def fetch(self, client: Client) -> None:
        self._gpus = sorted(client.gpus(), key=place)

    def head(self) -> str:
        return summary(self._gpus)

    def rows(self, columns: int, lines: int) -> list[str]:
        if not self._gpus:
            return []
        rows = table(self._gpus, width=columns, has_colours=has_colours())
        if len(rows) <= lines:
            return rows
        from tarmac.cli.render.gpu_grid import grid

        return grid(self._gpus, width=columns, lines=lines, has_colours=has_colours())
