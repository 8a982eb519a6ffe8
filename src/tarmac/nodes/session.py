"""The conversation with one agent: hello, join, frames to events, questions and answers.

How the agent is reached is the connector's business, so the conversation is the same over a Unix socket and over SSH.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypedDict, cast

import msgspec

from tarmac import __version__
from tarmac.core.events import GpusSeen, NodeJoined, NodeLeft, Reported
from tarmac.nodes import link_watch, liveness
from tarmac.nodes.link import Link, NoAnswer, Unreachable
from tarmac.nodes.node_clock import NodeClock
from tarmac.nodes.reports import REPORT_TYPES, readings_of, report_of
from tarmac.nodes.run_origins import OriginEntry, read_origins
from tarmac.shared import protocol
from tarmac.shared.system.proc import read_boot_id

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from tarmac.core.events import Event
    from tarmac.core.model.gpu import Gpu
    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.reports import GpuReading, HostReading
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import AttemptFrame, ControllerFrame, QuestionFrame

log = logging.getLogger(__name__)

NodeKind: TypeAlias = Literal["local", "ssh"]

FEWEST_CPU_JOBS = 16


class AboutNode(TypedDict, total=False):
    """What a session is told about its node."""

    kind: NodeKind
    address: str | None
    boot_id: str | None


class Connector(Protocol):
    """How an agent is reached."""

    breaks_silently: bool  # a network is on the way, which may drop everything without a word

    async def open(self) -> socket.socket:
        """Open a stream to the agent, starting the agent first if nothing answers. Raises OSError if that fails.

        To reach an agent through a child process, such as `ssh`, give the child one end of a socket pair as stdin and
        stdout, and return the other.
        """

    def has_started(self, pid: int) -> bool:
        """True if this connector started the agent with this pid."""

    def adapt(self, frame: ControllerFrame) -> ControllerFrame:
        """The frame as this node needs it: with its own paths and account."""

    def retry_s(self, failure: OSError | None, before_s: float) -> float:
        """How long to wait before the next try, given the last wait (0 after a connection)."""

    def close(self) -> None:
        """End what `open` left running."""


class ReadingsListener(Protocol):
    """Receives GPU readings, which arrive far more often than anything the core must decide on."""

    def take(self, node: NodeName, readings: list[GpuReading], host: HostReading | None, error: str | None) -> None: ...

    def renew(self, node: NodeName) -> None: ...


class Hello(msgspec.Struct, kw_only=True):
    """What an agent says about itself and its machine when a connection begins."""

    protocol: int
    version: str
    node: str  # the machine's host name
    boot_id: str
    pid: int
    cpus: int
    memory_bytes: int
    containment: str
    containment_reason: str | None = None
    runs: list[dict[str, Any]]
    at: float | None = None  # what its clocks show; older agents do not say
    boot_s: float | None = None
    origins: list[OriginEntry] = []
    guesses: list[Any] = []  # see run_origins: their form must not keep an older agent from being replaced


class _Reading(NamedTuple):
    frame: AnyFrame
    booted_at: float  # by our clock as it was set then


class AgentSession:
    """Connects to one agent, reconnects when the stream breaks, and posts what the agent reports as events."""

    def __init__(
        self,
        name: NodeName,
        connector: Connector,
        *,
        post: Callable[[Event], None],
        readings: ReadingsListener,
        fingerprints: Callable[[AnyFrame], None] = lambda _: None,
        clock: NodeClock | None = None,
        kind: NodeKind = "local",
        address: str | None = None,
        boot_id: str | None = None,
    ) -> None:
        """`address`: where other nodes reach it; None: on this machine. `boot_id`: that of its last connection."""
        self.name = name
        self.kind = kind
        self.address = address
        self.boot_id = boot_id
        self.hello: Hello | None = None
        self.has_gpus = asyncio.Event()  # set by the first reading
        self.is_ending = False  # the agent was asked to end; `run` returns once it is gone
        self._connector = connector
        self._post = post
        self._readings = readings
        self._fingerprints = fingerprints
        self._link: Link | None = None
        self._clock = clock or NodeClock()
        self._is_admitted = False
        self._gpus: tuple[Gpu, ...] | None = None  # as last posted
        self._reading: _Reading | None = None  # the last one of this connection
        self._liveness = liveness.Liveness(lambda: self.send({"type": "ping"}))
        self.failure: OSError | None = None  # why the last attempt to connect failed
        self._is_wanted = asyncio.Event()
        self._rebooted_at: float | None = None  # when it came back after a reboot
        self._was_connected = False
        self.changed_at = monotonic()  # when it last joined or left

    @property
    def is_elsewhere(self) -> bool:
        """The node is another machine: files of the controller are not there."""
        return self.kind == "ssh"

    @property
    def is_connected(self) -> bool:
        return self._link is not None and self.hello is not None

    async def run(self) -> None:
        """Keep a connection to the agent until the agent is asked to end."""
        retry_s = 0.0
        while not self.is_ending:
            failure: OSError | None = None
            try:
                await self._converse()
            except OSError as error:
                failure = error
                self._note_failure(error)
            except asyncio.CancelledError:
                self.disconnect()
                self.hello = None  # the controller ends: nothing is left to decide about the node
                raise
            finally:
                was_joined = self.hello is not None
                self._leave()
            retry_s = self._connector.retry_s(failure, 0.0 if was_joined else retry_s)
            self._is_wanted.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(retry_s):
                    await self._is_wanted.wait()

    def try_now(self) -> None:
        """Don't wait any longer before the next try: something may have changed."""
        self._is_wanted.set()

    @property
    def connected_s(self) -> float | None:
        """How long the agent has been connected; None if it is not."""
        return monotonic() - self.changed_at if self.is_connected else None

    @property
    def away_s(self) -> float | None:
        """How long the agent has not been connected; None if it is."""
        return None if self.is_connected else monotonic() - self.changed_at

    @property
    def rebooted_s(self) -> float | None:
        """How long ago it came back after a reboot; None if it did not reboot."""
        return None if self._rebooted_at is None else monotonic() - self._rebooted_at

    @property
    def is_lost(self) -> bool:
        """It was connected before, and is not now."""
        return self._was_connected and not self.is_connected

    def _note_failure(self, failure: OSError) -> None:
        """Log a failure once, not with every try."""
        if str(failure) != str(self.failure):
            log.warning("agent of %s: %s", self.name, failure)
        self.failure = failure

    # To the agent

    def send(self, frame: ControllerFrame) -> None:
        if self._link is not None:
            self._link.send(self._connector.adapt(frame))

    def admit(self) -> None:
        """Allow commands: the core has handled this connection's join, so later decisions take it into account."""
        self._is_admitted = True

    def send_command(self, frame: AttemptFrame) -> None:
        """Send a command, unless it was decided before the core handled this connection's join.

        Joining settles again what the node has to do, from what it really runs; an older command may be wrong by then.
        """
        if self._is_admitted:
            self.send(frame)

    async def ask(self, frame: QuestionFrame) -> AnyFrame:
        """Raises NoAnswer."""
        if self._link is None:
            raise Unreachable
        return await self._link.ask(cast("QuestionFrame", self._connector.adapt(frame)))

    async def check_liveness(self, within_s: float = liveness.ANSWER_WITHIN_S) -> None:
        """Make sure that `silent_s` is true now."""
        if self._link is not None:
            await self._liveness.check(within_s)

    @property
    def silent_s(self) -> float | None:
        """How long ago the agent was heard of, if it is connected and does not answer."""
        return None if self._link is None else self._liveness.silent_s

    def disconnect(self) -> None:
        """Close the stream. `run` connects again, and the agent reports again what really runs."""
        if self._link is not None:
            self._link.close()

    def end_agent(self) -> None:
        """End the agent for good: `run` does not start another one."""
        self.is_ending = True
        self.send({"type": "shutdown"})

    async def ask_agent_to_end(self, within_s: float) -> int:
        """End the agent for good. Returns the number of jobs it first waits for, because they are being stopped."""
        self.is_ending = True
        await self.check_liveness()
        if self.silent_s is not None:
            self.send({"type": "shutdown"})  # for when it continues
            return 0
        try:
            async with asyncio.timeout(within_s):
                return int((await self.ask({"type": "shutdown"}))["stops"])
        except (TimeoutError, NoAnswer):
            return 0

    # The connection

    async def _converse(self) -> None:
        """Open a connection, and return when it is lost."""
        lost = asyncio.Event()
        sock = await self._connector.open()
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            _, self._link = await loop.create_unix_connection(
                lambda: Link(self._take_frame, lost.set, self._liveness.heard), sock=sock
            )
        except BaseException:
            sock.close()
            raise
        self._liveness.heard()
        self._link.send({"type": "hello", "protocol": protocol.PROTOCOL, "version": __version__})
        if self.is_ending:
            self._link.send({"type": "shutdown"})  # asked to end while it was still starting
        if self._connector.breaks_silently:
            await link_watch.watch(self._link, lost, lambda: self.hello is not None)
        await lost.wait()

    def _leave(self) -> None:
        """Close the stream, and report the node as gone if it had joined."""
        self.disconnect()
        self._connector.close()
        self._link = None
        self._is_admitted = False
        self._gpus = None
        self._reading = None
        if self.hello is not None:
            self._post(NodeLeft(node=self.name))
            self.hello = None
            self.changed_at = monotonic()

    # From the agent

    def _take_frame(self, frame: AnyFrame) -> None:
        try:
            self._understand(frame)
        except (msgspec.ValidationError, KeyError) as error:
            log.error("agent of %s sent an invalid frame (%s): %.500r", self.name, error, frame)  # noqa: TRY400
            if frame.get("type") == "hello":
                self.disconnect()  # without a join nothing on this stream counts

    def _understand(self, frame: AnyFrame) -> None:
        if frame["type"] == "hello":
            self._join(msgspec.convert(frame, Hello))
        elif self.hello is None:
            return  # nothing counts before the join
        elif frame["type"] in REPORT_TYPES:
            self._post(Reported(node=self.name, report=report_of(frame, self._clock)))
        elif frame["type"] == "fingerprint":
            self._fingerprints(frame)
        elif frame["type"] == "gpus":
            self._take_gpus(frame)
        elif frame["type"] == "gpus_unchanged":
            self._renew_gpus()

    def _join(self, hello: Hello) -> None:
        if self._is_outdated(hello):
            log.info("agent %s of %s is replaced by %s", hello.version, self.name, __version__)
            self.send({"type": "shutdown", "is_replaced": True})
            return
        self._clock.relate(hello.boot_s, hello.at, is_same_boot=hello.boot_id == read_boot_id())
        runs = tuple(report_of(run, self._clock) for run in hello.runs)
        origins = read_origins(hello.origins, hello.guesses)
        self.hello, self.failure = hello, None
        if self.boot_id not in {None, hello.boot_id}:
            self._rebooted_at = monotonic()
        self.boot_id = hello.boot_id
        self.changed_at, self._was_connected = monotonic(), True
        log.info("agent pid %d on %s, containment %s", hello.pid, self.name, hello.containment)
        self._post(
            NodeJoined(
                node=self.name,
                cpu_job_slots=max(FEWEST_CPU_JOBS, 2 * hello.cpus),
                runs=runs,
                cpus=hello.cpus,
                memory_total_bytes=hello.memory_bytes,
                origins=origins.certain,
                guesses=origins.guessed,
            )
        )

    def _is_outdated(self, hello: Hello) -> bool:
        """An agent that this connector started is never outdated: starting it again would give the same version."""
        is_same = (hello.version, hello.protocol) == (__version__, protocol.PROTOCOL)
        return not is_same and not self._connector.has_started(hello.pid)

    def _renew_gpus(self) -> None:
        """Take the last reading again if our clock was set since: the times in it are by our clock."""
        if self._reading is not None and self._reading.booted_at != self._clock.booted_at():
            self._take_gpus(self._reading.frame)
        else:
            self._readings.renew(self.name)

    def _take_gpus(self, frame: AnyFrame) -> None:
        self._reading = _Reading(frame, self._clock.booted_at())
        readings, host = readings_of(frame, self._clock)
        gpus = tuple(reading.as_gpu() for reading in readings)
        if gpus != self._gpus:
            self._gpus = gpus
            self._post(GpusSeen(node=self.name, gpus=gpus))
        self._readings.take(self.name, readings, host, frame.get("error"))
        self.has_gpus.set()
