"""A queue over several test hosts: all hosts see the witness file of its jobs, and tests break its links."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults import sightings
from tests.faults.judge import judge
from tests.faults.world import World, compile_witness, eventually
from tests.home import Home
from tests.ssh.namespaces import command_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.faults.judge import Verdict
    from tests.ssh.hosts import Host
    from tests.ssh.lab import Lab

LINK = re.compile(r"^(/usr/bin/)?ssh .* (?P<host>\S+) exec /bin/sh$")


class Fleet:
    """`hosts` are nodes with this many GPUs each. This machine has none, so that jobs with GPUs run there."""

    def __init__(self, lab: Lab, names: list[str], gpus: int) -> None:
        home = Home(lab.path / "home", "0")
        home.environment = {**lab.environment, **home.environment, "PATH": lab.environment["PATH"]}
        self.lab = lab
        self.world = World(home, compile_witness(lab.path))
        self.hosts = [lab.host(name, gpus=str(gpus)) for name in names]
        for host in self.hosts:
            done = home.tarmac("node", "add", host.name)
            assert done.returncode == 0, done.stderr
        count = gpus * len(names)
        eventually(lambda: len(self.world.client.gpus()) == count, f"all {count} GPUs are seen")

    # What Tarmac says

    def is_connected(self, host: Host) -> bool:
        nodes = self.world.ask(self.world.client.status)["nodes"]
        return any(node["name"] == host.name and node["connected"] for node in nodes)

    def running(self, jobs: list[int]) -> None:
        eventually(lambda: set(jobs) <= set(self.world.started()), f"jobs {jobs} run")

    def node_of(self, job: int) -> str:
        return str(self.world.job(job)["node"])

    # Trouble

    def links(self, host: Host) -> list[int]:
        """The `ssh` processes of the controller that lead to a host."""
        found = []
        for entry in os.listdir("/proc"):
            match = LINK.match(command_of(int(entry))) if entry.isdigit() else None
            if match is not None and match["host"] == host.name and self._is_ours(int(entry)):
                found.append(int(entry))
        return found

    def _is_ours(self, pid: int) -> bool:
        try:
            return f"TARMAC_HOME={self.world.home.path}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(
                b"\0"
            )
        except OSError:
            return False

    def agents(self, host: Host) -> list[int]:
        """A fork of the agent that has not got its own name yet is a child of the agent."""
        named = {pid: sightings.parent_of(pid) for pid in host.processes() if sightings.name_of(pid) == "tarmac-agent"}
        return [pid for pid, parent in named.items() if parent not in named]

    def kill_link(self, host: Host) -> bool:
        return _kill(self.links(host))

    def kill_agent(self, host: Host) -> bool:
        return _kill(self.agents(host))

    def kill_sshd(self, host: Host) -> None:
        host.kill_sshd()
        host.start_sshd()

    # The end

    def expect_all_well(self, within_s: float = 120.0) -> Verdict:
        """Every job ends, every promise holds, and nothing of the jobs is left on the hosts."""
        self.world.wait_for_all(within_s)
        verdict = judge(self.world)
        assert verdict.is_good, str(verdict)
        for host in self.hosts:
            eventually(lambda host=host: not list(self._runs(host)), f"{host.name} has forgotten every run")  # type: ignore[misc]
            for log in host.home().glob(".local/state/tarmac-nodes/*/agent/agent.log"):
                assert "Traceback" not in log.read_text(), log.read_text()
        log = self.world.log_of("controller")
        assert "Traceback" not in log, log
        return verdict

    def close(self) -> dict[int, str]:
        """Returns the processes that had to be killed."""
        self.world.let_go()
        for host in self.hosts:
            host.heal()
        left = self.world.home.clean()
        self.world.sweep()
        return left

    def _runs(self, host: Host) -> Iterator[Path]:
        return host.home().glob(".local/state/tarmac-nodes/*/agent/runs/*")


def _kill(pids: list[int]) -> bool:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        return True
    return False
