"""The first steps on a node: which agent the link is connected with."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tarmac.agent.remote.serve import _connected

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534


@pytest.fixture
def planted() -> Iterator[Path]:
    """A state directory in which another user listens where the agent would."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o777)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(NOBODY)
        (place / "agent").mkdir()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(place / "agent" / "agent.sock"))
        listening.listen()
        os.write(writes, b"done")
        signal.pause()
        os._exit(0)
    assert os.read(reads, 4) == b"done"
    yield place
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reads)
    os.close(writes)
    shutil.rmtree(place)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_an_agent_of_another_user_gets_nothing(planted: Path) -> None:
    with pytest.raises(OSError, match=f"served by another user \\(uid {NOBODY}\\), so nothing was sent"):
        _connected(str(planted), "archive", {})
