"""How an agent on another machine is reached: `ssh` runs a shell there, which starts the agent and connects to it.

One `ssh` process per node, which carries everything. See docs/decisions/0022 for the steps.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac import __version__
from tarmac.nodes.ssh.adaptation import adapted
from tarmac.nodes.ssh.archive import agent_archive
from tarmac.nodes.ssh.failure import PASSING, LinkFailed, failure_of
from tarmac.nodes.ssh.joined import Joined
from tarmac.nodes.ssh.script import SHELL, link_script
from tarmac.nodes.ssh.target import link_command
from tarmac.shared import protocol
from tarmac.shared.own.environment import own_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tarmac.nodes.ssh.failure import FailureKind
    from tarmac.nodes.ssh.target import SshTarget
    from tarmac.shared.frames.to_agent import ControllerFrame

MARKER_WITHIN_S = 20.0
STEP_WITHIN_S = 60.0  # a slow disk or line: the archive has 300 KB, and an agent needs a second to start
FIRST_RETRY_S, LONGEST_RETRY_S, REFUSED_RETRY_S = 0.5, 15.0, 300.0
KILLED_AFTER_S = 5.0
ENDED_WITHIN_S = 5.0
MOST_ERRORS = 16384  # bytes of what `ssh` says that are remembered
MOST_OUTPUT = 1 << 20  # of login files, before the marker


class SshConnector:
    breaks_silently = True

    def __init__(
        self,
        name: str,
        target: SshTarget,
        *,
        controller: str,
        state_folder: Path,
        environment: Mapping[str, str],
        auth_socket: Callable[[], str | None],
        on_joined: Callable[[Joined], None] = lambda _: None,
        check: Callable[[Joined], None] = lambda _: None,
    ) -> None:
        """`controller` is the id under which the node keeps this controller's agent. `check` may raise LinkFailed."""
        self.target = target
        self.joined: Joined | None = None  # by the last link
        self._name = name
        self._controller = controller
        self._state_folder = state_folder
        self._environment = environment
        self._auth_socket = auth_socket
        self._on_joined = on_joined
        self._check = check
        self._ssh: _SshProcess | None = None

    async def open(self) -> socket.socket:
        self.close()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs:  # closed as soon as `ssh` has it, so that its end is noticed
                self._ssh = await _SshProcess.start(self._command(), theirs, self._variables())
            joined = await self._join(_Lines(ours, self._ssh))
            self._check(joined)
            self.joined = joined
        except BaseException:
            ours.close()
            self.close()
            raise
        self._on_joined(self.joined)
        return ours

    def has_started(self, pid: int) -> bool:
        return self.joined is not None and self.joined.started_pid == pid

    def adapt(self, frame: ControllerFrame) -> ControllerFrame:
        return frame if self.joined is None else adapted(frame, str(self._state_folder), self.joined)

    def retry_s(self, failure: OSError | None, before_s: float) -> float:
        """A host that refuses a log-in may lock out an account that tries often."""
        is_refused = isinstance(failure, LinkFailed) and failure.kind not in PASSING
        return min(max(2 * before_s, FIRST_RETRY_S), REFUSED_RETRY_S if is_refused else LONGEST_RETRY_S)

    def close(self) -> None:
        """End the `ssh` process. The agent on the node goes on."""
        if self._ssh is not None:
            self._ssh.end()
            self._ssh = None

    def _command(self) -> list[str]:
        return [*link_command(self.target, self._state_folder), SHELL]

    def _variables(self) -> dict[str, str]:
        """`ssh` also needs the socket of the user's newest ssh-agent: the one from before may have ended."""
        variables = own_environment(os.environ) | {
            name: os.environ[name] for name in ("KRB5CCNAME", "SSH_ASKPASS") if name in os.environ
        }
        if (auth_socket := self._auth_socket()) is not None:
            variables["SSH_AUTH_SOCK"] = auth_socket
        return variables

    async def _join(self, lines: _Lines) -> Joined:
        archive = await asyncio.to_thread(agent_archive)
        marker = f"tarmac-{secrets.token_hex(16)}"
        await lines.write(link_script(marker, archive))
        python = await lines.answer(marker, MARKER_WITHIN_S)
        if python["step"] == "no-python":
            raise LinkFailed("no-python", str(python.get("found", "")))
        if python.get("needs_archive"):
            await lines.write(archive.data)
        environment = {**self._environment, "TARMAC_AGENT_NODE": self._name}
        await lines.write(json.dumps({"controller": self._controller, "environment": environment}).encode() + b"\n")
        answer = await lines.answer(marker, STEP_WITHIN_S, late="stuck")
        try:
            return msgspec.convert(answer, Joined)
        except msgspec.ValidationError as error:
            raise LinkFailed("node", str(error)) from None


async def end_agent(link: socket.socket) -> None:
    """End an agent that was started for a link of which nothing came."""
    hello = protocol.encode({"type": "hello", "protocol": protocol.PROTOCOL, "version": __version__})
    with suppress(OSError):
        async with asyncio.timeout(ENDED_WITHIN_S):
            await asyncio.get_running_loop().sock_sendall(link, hello + protocol.encode({"type": "shutdown"}))
            while await asyncio.get_running_loop().sock_recv(link, 65536):
                pass  # until it has ended


class _SshProcess:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._errors = bytearray()
        self._reading = asyncio.create_task(self._read_errors())

    @classmethod
    async def start(cls, command: list[str], stream: socket.socket, environment: Mapping[str, str]) -> _SshProcess:
        """In a separate session: a Ctrl-C at `tarmac serve` must not end links."""
        try:
            return cls(
                await asyncio.create_subprocess_exec(
                    *command,
                    stdin=stream.fileno(),
                    stdout=stream.fileno(),
                    stderr=asyncio.subprocess.PIPE,
                    env=dict(environment),
                    cwd="/",
                    start_new_session=True,
                )
            )
        except FileNotFoundError:
            raise LinkFailed("no-ssh") from None

    async def errors(self) -> str:
        """All that it said, once it has ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await asyncio.shield(self._reading)
        return self._errors.decode("utf-8", "replace")

    async def failure(self, output: str) -> LinkFailed:
        """Why it ended. `output` is what came over the link."""
        errors = await self.errors()
        return failure_of(errors, output, self._process.returncode)

    def end(self) -> None:
        """`ssh` may wait for a host that is out of reach, also to say goodbye."""
        self._signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(KILLED_AFTER_S, self._signal, signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """To its process group: it may have started a program of the user's ssh config, such as ProxyCommand."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    async def _read_errors(self) -> None:
        """Until it has ended, so that it never waits for us."""
        assert self._process.stderr is not None
        while data := await self._process.stderr.read(4096):
            self._errors += data
            del self._errors[:-MOST_ERRORS]
        await self._process.wait()


class _Lines:
    """What comes over the link before the frames: lines with a marker, among whatever login files print."""

    def __init__(self, sock: socket.socket, ssh: _SshProcess) -> None:
        self._sock = sock
        self._ssh = ssh
        self._received = bytearray()
        self._ignored = bytearray()  # what came before the last marker

    async def write(self, data: bytes) -> None:
        try:
            async with asyncio.timeout(STEP_WITHIN_S):
                await asyncio.get_running_loop().sock_sendall(self._sock, data)
        except TimeoutError:
            raise LinkFailed("stuck") from None
        except OSError:
            raise await self._ssh.failure(self._ignored.decode("utf-8", "replace")) from None

    async def answer(self, marker: str, within_s: float, late: FailureKind = "silent") -> dict[str, Any]:
        """Raises LinkFailed, also if a step on the node failed."""
        try:
            async with asyncio.timeout(within_s):
                line = await self._marked_line(marker.encode())
        except TimeoutError:
            raise LinkFailed(late, (self._ignored + self._received).decode("utf-8", "replace")) from None
        try:
            answer = msgspec.json.decode(line, type=dict[str, Any])
            step = answer["step"]
        except (ValueError, KeyError):
            raise LinkFailed("node", line.decode("utf-8", "replace")) from None
        if step == "failed":
            error = str(answer.get("error"))
            raise LinkFailed("node", f"{answer['path']}: {error}" if answer.get("path") else error)
        return answer

    async def _marked_line(self, marker: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        while True:
            while b"\n" in self._received:
                line, _, rest = bytes(self._received).partition(b"\n")
                self._received = bytearray(rest)
                if line.startswith(marker + b" "):
                    return line[len(marker) + 1 :]
                self._ignored += line + b"\n"
                del self._ignored[:-MOST_OUTPUT]
            try:
                data = await loop.sock_recv(self._sock, 65536)
            except OSError:
                data = b""
            if not data:
                output = (self._ignored + self._received).decode("utf-8", "replace")
                raise await self._ssh.failure(output)
            self._received += data
            if len(self._received) > MOST_OUTPUT:
                self._received = self._received[-4096:]
