"""What can be asked about the machine and of the controller itself."""

from __future__ import annotations

from tarmac.client.link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from tarmac.client.records import Event, Gpu


class Machine(Link):
    """The part of a client that has to do with GPUs and with Tarmac itself."""

    def gpus(self) -> list[Gpu]:
        from tarmac.client.records import Gpu

        return [Gpu(gpu) for gpu in self.call("GET", "/gpus")["gpus"]]

    def status(self) -> dict[str, Any]:
        return self.call("GET", "/status")

    def events(self, jobs: Iterable[int] | None = None) -> Iterator[Event]:
        """Every change from now on, as it happens; also across a restart of the controller."""
        from tarmac.client.following import events

        return events(self, jobs)

    def stop(self, *, agent: bool = True) -> None:
        """End the controller, and the agent. Running jobs go on."""
        self.call("POST", "/stop", body={"agent": agent})
