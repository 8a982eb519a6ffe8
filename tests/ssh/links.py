"""Opens links to test hosts without a controller."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from tarmac import __version__
from tarmac.nodes.ssh.connector import SshConnector
from tarmac.nodes.ssh.target import SshTarget
from tarmac.shared import protocol

if TYPE_CHECKING:
    from tarmac.nodes.ssh.joined import Joined
    from tests.ssh.lab import Lab


def connect(
    lab: Lab, host: str, user: str | None = None, *, port: int | None = None, environment: dict[str, str] | None = None
) -> tuple[Joined, dict[str, Any]]:
    """Join the agent there, as the controller does. Returns what the node and the agent say. Raises LinkFailed."""
    connector = SshConnector(
        "node",
        SshTarget(host=host, user=user, port=port),
        controller="test",
        state_folder=Path("/nonexistent"),
        environment=environment or {},
        auth_socket=lambda: None,
    )
    with mock.patch.dict(os.environ, {"PATH": lab.environment["PATH"]}):
        return asyncio.run(_greeted(connector))


async def _greeted(connector: SshConnector) -> tuple[Joined, dict[str, Any]]:
    try:
        with await connector.open() as sock:
            async with asyncio.timeout(60):
                hello = await _hello(sock)
    finally:
        connector.close()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})  # the end of `ssh`
    assert connector.joined is not None
    return connector.joined, hello


async def _hello(sock: Any) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    frame = {"type": "hello", "protocol": protocol.PROTOCOL, "version": __version__}
    await loop.sock_sendall(sock, protocol.encode(frame))
    decoder = protocol.Decoder()
    while True:
        for answer in decoder.feed(await loop.sock_recv(sock, 65536)):
            if answer["type"] == "hello":
                return dict(answer)
