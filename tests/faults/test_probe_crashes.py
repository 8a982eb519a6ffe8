"""A probe that dies before its first reading: what is not known yet must not be taken for no GPUs at all."""

from typing import Any

from tarmac.agent.gpus.monitor import GpuWatch
from tarmac.agent.loop import Callback, Loop, Timer

KILLED = 9  # as a wait status


class NoLoop(Loop):
    """Nothing happens by itself."""

    def after(self, seconds: float, callback: Callback, name: str) -> Timer:
        return Timer(callback, name)


def test_a_probe_that_dies_once_says_nothing_and_one_that_always_dies_says_why() -> None:
    said: list[dict[str, Any]] = []
    watch = GpuWatch(NoLoop(), said.append, dict)  # type: ignore[arg-type]
    watch._begin_again(KILLED)
    watch._begin_again(KILLED)
    assert said == []
    watch._begin_again(KILLED)
    assert [(frame["gpus"], frame["error"]) for frame in said] == [([], "the GPU probe crashed")]
