"""Runs the probe as a separate process, as the agent does, and reads its frames."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from tarmac.shared.protocol import Decoder

PATIENCE_S = 20.0
PROGRAM = """
import sys
from tarmac.agent.gpus import probe
probe.ALIVE_S = {alive_s}
sys.exit(probe.main(1))
"""

Frame = dict[str, Any]


class ProbeRun:
    def __init__(
        self, *, env: dict[str, str] | None = None, fake: str | None = None, pace_s: float = 0.02, alive_s: float = 10.0
    ) -> None:
        program = PROGRAM.format(alive_s=alive_s)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdout=subprocess.PIPE,
            env={**os.environ, "TARMAC_FAKE_GPUS": fake or "", "TARMAC_GPU_PACE_S": str(pace_s), **(env or {})},
        )
        self._decoder = Decoder()
        self._waiting: list[Frame] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def frame(self, patience_s: float = PATIENCE_S) -> Frame | None:
        """Return the next frame, or None if the probe has ended or stays silent for that long."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        deadline = time.monotonic() + patience_s
        while not self._waiting:
            if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            data = os.read(fd, 65536)
            if not data:
                return None
            self._waiting += self._decoder.feed(data)
        return self._waiting.pop(0)

    def until(self, is_right: Callable[[Frame], bool]) -> Frame:
        seen = []
        while (frame := self.frame()) is not None:
            if is_right(frame):
                return frame
            seen.append(frame)
        raise AssertionError(f"the probe did not send the expected frame; it sent {seen}")

    def ended(self) -> int:
        return self.process.wait(PATIENCE_S)
