"""A probe that dies before its first reading: unknown GPUs must not count as no GPUs."""

from typing import Any

from tarmac.agent.gpus.monitor import GpuMonitor
from tarmac.agent.loop import Callback, Loop, Timer

KILLED = 9  # as a wait status


class NoLoop(Loop):
    """A loop that never runs its timers."""

    def after(self, seconds: float, callback: Callback, name: str) -> Timer:
        return Timer(callback, name)


def test_a_probe_that_dies_once_is_ignored_and_one_that_always_dies_is_reported() -> None:
    said: list[dict[str, Any]] = []
    monitor = GpuMonitor(NoLoop(), said.append, dict)  # type: ignore[arg-type]
    monitor._restart(KILLED)
    monitor._restart(KILLED)
    assert said == []
    monitor._restart(KILLED)
    assert [(frame["gpus"], frame["error"]) for frame in said] == [([], "the GPU probe crashed")]
