"""How an agent on this machine is reached: through the Unix socket in its state directory, starting it if needed.

The agent outlives the controller, and the next controller finds it by its socket.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tarmac.core.model.ids import NodeName
from tarmac.shared.own import file_limit, strict_modes
from tarmac.shared.own.environment import own_environment
from tarmac.shared.system import sockets

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from pathlib import Path

    from tarmac.shared.frames.to_agent import ControllerFrame

SHORTEST_RETRY_S, LONGEST_RETRY_S = 0.05, 2.0


class LocalConnector:
    """`environment` is added to that of the controller when the agent is started."""

    breaks_silently = False

    def __init__(self, state_folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self._state_folder = state_folder
        self._environment = environment or {}
        self._agent: subprocess.Popen[bytes] | None = None

    async def open(self) -> socket.socket:
        path = str(self._state_folder / "agent" / "agent.sock")
        try:
            sock = sockets.connect(path)
        except OSError:
            await self._spawn()
            sock = sockets.connect(path)
        uid = sockets.peer_uid(sock)
        if uid not in {os.getuid(), 0}:  # start frames contain the environments of jobs
            sock.close()
            raise PermissionError(f"{path} is served by another user (uid {uid}), so nothing was sent")
        return sock

    def has_started(self, pid: int) -> bool:
        return self._agent is not None and self._agent.pid == pid

    def adapt(self, frame: ControllerFrame) -> ControllerFrame:
        return frame  # this machine has the same paths and account

    def retry_s(self, _: OSError | None, before_s: float) -> float:
        return min(max(2 * before_s, SHORTEST_RETRY_S), LONGEST_RETRY_S)

    def close(self) -> None:
        """Nothing is left of a connection."""

    async def _spawn(self) -> None:
        if self._agent is not None:
            self._agent.poll()  # reap the previous one
        ready, theirs = os.pipe()
        try:
            # In its own session: Ctrl-C on `tarmac serve` must not reach it.
            agent = [sys.executable, "-m", "tarmac.agent", "--state", str(self._state_folder)]
            self._agent = subprocess.Popen(  # noqa: ASYNC220 - a few milliseconds, once in an agent's life
                file_limit.with_original([*agent, "--ready-fd", str(theirs)]),
                pass_fds=(theirs,),
                stdin=subprocess.DEVNULL,
                cwd="/",
                env={**own_environment(os.environ), **self._environment},
                start_new_session=True,
            )
        except BaseException:
            os.close(ready)
            raise
        finally:
            os.close(theirs)
        try:
            line = await _read_line(ready)
        finally:
            os.close(ready)
        if line != b"ready\n":
            message = line.decode(errors="replace").strip() or "see its error above"
            raise ConnectionError(f"the agent did not start: {message}")


def lasting_name(state_folder: Path, host: str) -> NodeName:
    """The machine's first host name: after a renaming its jobs must still find their node."""
    path = state_folder / "agent" / "node"
    try:
        return NodeName(path.read_text().strip() or host)
    except FileNotFoundError:
        strict_modes.make_directories(str(path.parent))
        path.write_text(host + "\n")
        return NodeName(host)


async def _read_line(descriptor: int) -> bytes:
    """What the other end writes before it closes the pipe."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
        return os.read(descriptor, 4096)
    finally:
        loop.remove_reader(descriptor)
