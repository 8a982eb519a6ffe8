"""A temporary Tarmac whose processes tests can find and kill, and whose jobs write to a witness file.

Nothing here relies on Tarmac's own answers: processes come from /proc, and what ran comes from the witness file.
"""

import contextlib
import copy
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tarmac.client import Client
from tarmac.errors import Unavailable
from tests.faults import sightings
from tests.faults.sightings import Sighting, record
from tests.home import Home, until

HERE = Path(__file__).parent
WITHIN_S = 60.0


def compile_witness(folder: Path) -> Path:
    program = folder / "witness"
    subprocess.run(["gcc", "-O1", "-o", program, HERE / "witness.c"], check=True)
    return program


def eventually(condition: Callable[[], Any], what: str, within_s: float = WITHIN_S) -> Any:
    """The first true value of the condition."""
    value = until(condition, within_s)
    assert value, f"{what}: not within {within_s:.0f} s"
    return value


@dataclass
class World:
    home: Home
    witness: Path
    acknowledged: list[int] = field(default_factory=list)
    # Killed with a start record and without an exit record: only the outcomes of these are unknown.
    bereft: set[int] = field(default_factory=set)
    killed_jobs: set[int] = field(default_factory=set)  # by kill -9 of the job
    full_spans: list[list[float]] = field(default_factory=list)  # when the disk of the logs was full, from and to
    removed: set[int] = field(default_factory=set)
    stopped: set[int] = field(default_factory=set)  # stop acknowledged
    pauses: list[tuple[float, float]] = field(
        default_factory=list
    )  # from its acknowledgement until the resume, in wall-clock time
    reserved: list[tuple[float, float, set[int]]] = field(default_factory=list)  # likewise, with the GPUs

    def __post_init__(self) -> None:
        self.home.path.mkdir(parents=True, exist_ok=True)
        self.folder = self.home.path.parent / f"{self.home.path.name}-witness"
        self.folder.mkdir(exist_ok=True)
        self.client = Client(self.home.path, start=False)
        self.client.patience_s = 0  # a test decides when Tarmac starts again
        self._power = threading.Lock()  # nothing starts during a power failure
        self._boots = 0

    # Tarmac as users see it

    def wake(self, **environment: str) -> None:
        """Run a command that starts missing processes. With TARMAC_CRASH_AT it may fail."""
        done = self.home.tarmac("status", env=environment)
        assert done.returncode == 0 or "TARMAC_CRASH_AT" in environment, done.stderr

    def wake_until(self, condition: Callable[[], bool], **environment: str) -> None:
        """Like `wake`, but without waiting for a controller that may never be ready."""
        command = _with(self.home, environment).start("status")
        eventually(lambda: condition() or command.poll() is not None, "the command is done, or need not be")
        command.kill()
        command.communicate()

    def ask(self, question: Callable[[], Any], within_s: float = WITHIN_S) -> Any:
        """Repeat the request until it is answered, restarting Tarmac as needed."""
        deadline = time.monotonic() + within_s
        while True:
            try:
                return question()
            except Unavailable:
                if time.monotonic() > deadline:
                    raise
                with self._power:
                    self.home.tarmac("status")

    def try_once(self, question: Callable[[], Any]) -> Any:
        """None if Tarmac died during the request or before it."""
        try:
            return question()
        except Unavailable:
            return None

    def requests(
        self,
        count: int,
        *,
        gpus: int = 1,
        ms: int = 0,
        leave: str | None = None,
        words: Sequence[str] = (),
        **asked: Any,
    ) -> list[dict[str, Any]]:
        """`words` are arguments of the witness; the rest are options of the job."""
        command = [str(self.witness), str(self.folder), str(ms), *([leave] if leave else []), *words]
        return [{"command": command, "gpus": gpus, "cwd": "/", **asked}] * count

    def submit(self, requests: Sequence[dict[str, Any]], token: str | None = None, **how: Any) -> list[int]:
        """Submit, repeating with the same token until it is acknowledged."""
        token = token or os.urandom(8).hex()
        ids = self.ask(lambda: self.client.submit_many(requests, environment={}, token=token, **how))  # type: ignore[arg-type]
        self.acknowledged += ids
        return list(ids)

    def run(self, count: int = 1, **options: Any) -> list[int]:
        return self.submit(self.requests(count, **options))

    def stop(self, job: int, grace_s: float = 0.0) -> None:
        self.ask(lambda: self.client.kill(job, grace_s=grace_s))
        self.stopped.add(job)

    def job(self, number: int) -> dict[str, Any]:
        return dict(self.ask(lambda: self.client.call("GET", f"/jobs/{number}")))

    def state(self, number: int) -> str:
        return str(self.job(number)["state"])

    def wait_for_all(self, within_s: float = WITHIN_S) -> None:
        eventually(self.have_all_ended, "every acknowledged job has ended", within_s)

    def have_all_ended(self) -> bool:
        answer = self.ask(lambda: self.client.call("GET", "/jobs", query={"state": "active", "limit": 1}))
        return not answer["jobs"]

    # Gates

    def hold(self) -> None:
        """Keep jobs from ending until `let_go`."""
        (self.folder / "hold").touch()

    def let_go(self) -> None:
        (self.folder / "hold").unlink(missing_ok=True)

    def lines(self) -> list[list[str]]:
        path = self.folder / "witness"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def started(self) -> list[int]:
        return [int(line[0]) for line in self.lines() if line[3] == "start"]

    def pid_of(self, job: int) -> int:
        """The pid of the job's process, once it runs."""
        found = eventually(lambda: [line for line in self.lines() if line[0] == str(job)], f"job {job} runs")
        return int(found[0][4])

    # Processes

    def seen(self, kind: str) -> list[Sighting]:
        return [one for one in sightings.of(str(self.home.path)) if one.kind == kind]

    def kill(self, kind: str, job: int | None = None) -> bool:
        """kill -9 the controller, the agent, or a shim. False if none runs."""
        found = [one for one in self.seen(kind) if job is None or one.job == job]
        return bool(found) and self.kill_one(found[0])

    def kill_all(self, *kinds: str) -> None:
        for kind in kinds:
            while self.kill(kind):
                pass

    def kill_one(self, target: Sighting) -> bool:
        try:
            if target.kind in {"shim", "spare"}:
                self._kill_shim(target)
            else:
                os.kill(target.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        eventually(lambda: not target.is_there(), f"{target.kind} {target.pid} is gone")
        return True

    def _kill_shim(self, shim: Sighting) -> None:
        """Suspend it first, so that its records at its death can be read exactly."""
        os.kill(shim.pid, signal.SIGSTOP)
        eventually(shim.is_stopped, "the shim has stopped")
        self._note_bereft(shim)
        os.kill(shim.pid, signal.SIGKILL)

    def _note_bereft(self, shim: Sighting) -> None:
        folder, key = shim.now_at()
        if key is not None and record(folder, "start") == key and record(folder, "exit") != key:
            self.bereft.add(key[0])

    def cut_power(self) -> None:
        """Kill all of Tarmac and all jobs at once, and simulate a reboot."""
        with self._power:
            stopped: dict[int, Sighting] = {}
            while fresh := [one for one in self._all() if one.pid not in stopped and one.stop()]:
                stopped.update((one.pid, one) for one in fresh)
            for one in stopped.values():
                eventually(one.is_stopped, "everything stands still")
                if one.kind in {"shim", "spare", "fork"}:  # when first seen; it may have a job by now
                    self._note_bereft(one)
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            eventually(lambda: not any(one.is_there() for one in stopped.values()), "everything is gone")
            self._boots += 1
            self.home.environment["TARMAC_BOOT_ID"] = f"boot {self._boots}"

    def _all(self) -> list[Sighting]:
        return sightings.of(str(self.home.path)) + sightings.of_program(str(self.witness))

    @contextlib.contextmanager
    def kill_after(self, seconds: float, kind: str) -> Iterator[None]:
        """Run an action in a thread."""
        timer = threading.Timer(seconds, self.kill, [kind])
        timer.start()
        try:
            yield
        finally:
            timer.join()

    def kill_job(self, job: int) -> None:
        """Kill a job's process, as the kernel does when memory runs out."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid_of(job), signal.SIGKILL)
        self.killed_jobs.add(job)

    def has_struck(self, point: str) -> bool:
        return f"crash point {point.partition('@')[0]}" in self.log_of("controller") + self.log_of("agent")

    def end(self) -> None:
        """Remove everything. Faster than the way of a user, which would take longer than the test."""
        self.let_go()
        self.cut_power()
        self.sweep()

    def sweep(self) -> None:
        """Remove the cgroups, because no agent of this home will."""
        for base in set(re.findall(r"containment cgroup (\S+)", self.log_of("agent"))):
            for folder, _, _ in os.walk(base, topdown=False):
                eventually(lambda folder=folder: _remove(folder), f"{folder} is empty")  # type: ignore[misc]

    def log_of(self, process: str) -> str:
        path = self.home.path / ("controller.log" if process == "controller" else "agent/agent.log")
        return path.read_text(errors="replace") if path.exists() else ""


def _with(home: Home, more: dict[str, str]) -> Home:
    twin = copy.copy(home)
    twin.environment = {**home.environment, **more}
    return twin


def _remove(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
