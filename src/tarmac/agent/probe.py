"""The GPU probe: a child of the agent that writes readings to a pipe. A driver call that hangs hangs nothing else.

Frames (see protocol): `gpus` whenever a reading differs from the last one sent, `alive` after 10 s of silence.
"""

from __future__ import annotations

import os
import select
import time
from typing import Any, Dict, List, Optional

from tarmac.agent.holders import Holders
from tarmac.agent.memory import is_news, read_memory
from tarmac.agent.protocol import encode

BUSY_S = 1.0  # between two readings while anything is on a card
IDLE_S = 5.0  # when nothing is
ALIVE_S = 10.0
NO_DRIVER = 3  # exit code: there is nothing to probe, ask again much later


class Pipe:
    """The way to the agent. Waiting on it ends at once when the agent does."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._parent = os.getppid()
        self._poll = select.poll()
        self._poll.register(fd, 0)  # errors only: nobody reads any more
        self._silent_since = time.monotonic()

    def send(self, message: Dict[str, Any]) -> None:
        data = encode(message)
        while data:
            data = data[os.write(self._fd, data) :]
        self._silent_since = time.monotonic()

    def wait(self, seconds: float) -> bool:
        """False when the agent is gone."""
        ended = bool(self._poll.poll(seconds * 1000)) or os.getppid() != self._parent
        if not ended and time.monotonic() - self._silent_since >= ALIVE_S:
            self.send({"type": "alive"})
        return not ended


def main(write_fd: int, fake: Optional[str]) -> int:
    """Runs until the agent is gone; returns the exit code. `fake` is the value of TARMAC_FAKE_GPUS."""
    pipe = Pipe(write_fd)
    try:
        return _pretend(pipe, fake) if fake else _watch(pipe)
    except BrokenPipeError:
        return 0


def _pretend(pipe: Pipe, text: str) -> int:
    from tarmac.agent.fake import fake_gpus

    try:
        frame = _frame(fake_gpus(text), None, "fake")
    except ValueError as error:
        frame = _frame([], str(error), "fake")
    pipe.send(frame)
    while pipe.wait(IDLE_S):
        host = read_memory()
        if is_news(host, frame["host"]):
            frame["host"] = host
            pipe.send(frame)
    return 0


def _watch(pipe: Pipe) -> int:
    from tarmac.agent import nvml

    try:
        driver = nvml.start()
        sent = None
        holders = Holders()
        while True:
            gpus, faults = nvml.read_gpus(driver, holders)
            holders.tidy()
            frame = _frame(gpus, "; ".join(faults) or None, "nvml")
            if sent is not None and not is_news(frame["host"], sent["host"]):
                frame["host"] = sent["host"]
            if frame != sent:
                pipe.send(frame)
            pace_s = BUSY_S if sent is None or is_busy(gpus, sent["gpus"]) else IDLE_S
            sent = frame
            if not pipe.wait(pace_s):
                return 0
    except nvml.NoNvml as error:
        pipe.send(_frame([], str(error), "none"))
        return NO_DRIVER


def is_busy(now: List[Dict[str, Any]], before: List[Dict[str, Any]]) -> bool:
    """A card that only gets warmer is idle; one with a holder, load, or moving memory is not."""
    if any(gpu["processes"] or gpu["utilization"] for gpu in now):
        return True
    return [gpu["memory_used_bytes"] for gpu in now] != [gpu["memory_used_bytes"] for gpu in before]


def _frame(gpus: List[Dict[str, Any]], error: Optional[str], source: str) -> Dict[str, Any]:
    return {"type": "gpus", "gpus": gpus, "error": error, "source": source, "host": read_memory()}
