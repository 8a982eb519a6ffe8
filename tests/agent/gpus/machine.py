"""A real agent on a stand-in driver, and a connection that receives its readings."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent_peer import DEADLINE_S, AgentPeer, Site
from tests.nvml.standin import Standin

Gpu = dict[str, Any]
FAST = {"TARMAC_FAKE_GPUS": "", "TARMAC_GPU_PACE_S": "0.02", "TARMAC_GPU_AGAIN_S": "0.3"}


class Machine(Site):
    def __init__(self, state: Path, driver: Standin) -> None:
        super().__init__(state, "cgroup")  # if available
        self.driver = driver
        self._others: list[subprocess.Popen[bytes]] = []

    def boot(self, **env: str) -> AgentPeer:
        no_amd = {"TARMAC_AMD_SYSFS": str(self.state / "no-such-folder")}
        return super().boot(**{**FAST, **no_amd, **self.driver.env, **env})

    def stranger(self, program: str = "import signal; signal.pause()") -> subprocess.Popen[bytes]:
        """Start a foreign process."""
        process = subprocess.Popen([sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE)
        self._others.append(process)
        return process

    def clean_up(self) -> None:
        for record in (self.state / "agent/runs").glob("*/start.json"):
            if '"adopted"' in record.read_text():
                record.unlink()  # no shim is left to kill
        super().clean_up()
        for process in self._others:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def until(peer: AgentPeer, is_right: Callable[[dict[str, Gpu]], bool]) -> dict[str, Gpu]:
    """Return the first reading that meets the condition: the GPUs by uuid."""
    seen: list[dict[str, Gpu]] = []
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        frame = peer.expect("gpus")
        seen.append({gpu["uuid"]: {**gpu, "error": frame["error"]} for gpu in frame["gpus"]})
        if is_right(seen[-1]):
            return seen[-1]
    raise AssertionError(f"no such reading; the last was {seen[-1]}")


def health(peer: AgentPeer, uuid: str, words: str | None) -> dict[str, Gpu]:
    """Return the first reading in which the GPU's health contains this text; None: it is well."""
    return until(peer, lambda gpus: uuid in gpus and _says(gpus[uuid]["health"], words))


def _says(found: str | None, words: str | None) -> bool:
    return found is None if words is None else words in (found or "")


@pytest.fixture
def machine(tmp_path: Path, standin: Standin) -> Iterator[Machine]:
    machine = Machine(tmp_path, standin)
    yield machine
    machine.clean_up()
    log = machine.text("agent/agent.log")
    assert "unexpected error" not in log, log
    assert "Traceback" not in log, log
