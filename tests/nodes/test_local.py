"""How the agent of this machine is named."""

import asyncio
import errno
import os
import subprocess
from pathlib import Path

import pytest

from tarmac.nodes.local import LocalConnector, lasting_name


def test_a_machine_keeps_its_name_when_its_host_name_changes(tmp_path: Path) -> None:
    assert lasting_name(tmp_path, "desk") == "desk"
    assert lasting_name(tmp_path, "renamed") == "desk"


def test_an_agent_that_cannot_be_started_costs_no_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process(*_: object, **__: object) -> None:
        raise OSError(errno.EAGAIN, "no more processes")

    async def tries() -> None:
        for _ in range(3):
            with pytest.raises(OSError, match="no more processes"):
                await LocalConnector(tmp_path).open()

    monkeypatch.setattr(subprocess, "Popen", no_process)
    before = os.listdir("/proc/self/fd")
    asyncio.run(tries())
    assert os.listdir("/proc/self/fd") == before
