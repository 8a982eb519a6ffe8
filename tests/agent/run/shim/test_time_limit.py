"""Time limits: the shim alone ends the whole tree, and reports a timeout only if the limit was the cause."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.proc_scan import ProcessTree
from tarmac.agent.records.pause_record import NEVER
from tarmac.agent.run.shim.time_limit import TimeLimit
from tarmac.agent.run.start_request import Limit
from tests.agent_peer import AgentPeer, Site, eventually, is_alive, marked

LIMIT_S = 0.3
NO_END = "while :; do sleep 0.01; done"
STUBBORN = f"trap '' TERM INT HUP; echo $$; {NO_END}"
FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve("/bin/sh", ["sh", "-c", 'trap "" TERM; echo $$; while :; do sleep 0.05; done'], {})
    os._exit(0)
os.wait()
time.sleep(1000)
"""


def start(
    site: Site, peer: AgentPeer, job: int = 1, limit_s: float | None = LIMIT_S, grace_s: float = 30.0, **more: Any
) -> None:
    frame = {"stop_signal": signal.SIGTERM, "limit_s": limit_s, "grace_s": grace_s, **more}
    peer.start(job, stdout=site.path(f"log{job}"), **frame)


def has_written(site: Site, job: int = 1) -> str:
    return str(eventually(lambda: site.text(f"log{job}").endswith("\n") and site.text(f"log{job}"), "its first line"))


def said(site: Site) -> list[str]:
    """Without bash's message about the signal that ended its `sleep`."""
    return [line for line in site.text("log1").splitlines() if line in ("ready", "asked", "saved", "child")]


def wait_for_record(site: Site, job: int = 1) -> dict[str, Any]:
    eventually(lambda: site.text(f"agent/runs/{job}.1/exit.json").strip(), "the exit record")
    return site.record(job, "exit.json")


def test_command_over_its_limit_gets_sigterm(site: Site, peer: AgentPeer) -> None:
    start(site, peer, argv=["sleep", "1000"])
    exited = peer.expect("exited", 1)
    assert (exited["signal"], exited["exit_code"], exited["timed_out"]) == (signal.SIGTERM, None, True)


def test_exit_code_in_response_to_the_signal_is_reported(site: Site, peer: AgentPeer) -> None:
    start(site, peer, shell=f"trap 'exit 0' TERM; {NO_END}")
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (0, True)


def test_stop_signal_of_the_job_is_used(site: Site, peer: AgentPeer) -> None:
    start(site, peer, stop_signal=signal.SIGUSR1, shell=f"trap 'echo saved; exit 3' USR1; {NO_END}")
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (3, True)
    assert said(site) == ["saved"]


def test_whole_tree_gets_the_signal(site: Site, peer: AgentPeer) -> None:
    child = f"(trap 'echo child; exit' TERM; {NO_END}) & wait"
    start(site, peer, shell=child)
    assert peer.expect("exited", 1)["timed_out"] is True
    assert said(site) == ["child"]


def test_command_that_does_not_obey_is_killed_after_the_grace(site: Site, peer: AgentPeer) -> None:
    start(site, peer, grace_s=0.2, shell=STUBBORN)
    exited = peer.expect("exited", 1)
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGKILL, True)


@pytest.mark.parametrize(
    "way", [{"grace_s": 0.0}, {"stop_signal": signal.SIGKILL}], ids=["no grace", "KILL as its own signal"]
)
def test_no_grace_kills_at_the_limit(site: Site, peer: AgentPeer, way: dict[str, Any]) -> None:
    start(site, peer, shell=f"trap 'exit 0' TERM; {NO_END}", **way)
    exited = peer.expect("exited", 1)
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGKILL, True)


def test_grandchild_in_another_session_that_ignores_the_signal_is_gone_before_the_exit_is_reported(
    site: Site, peer: AgentPeer
) -> None:
    start(site, peer, limit_s=1.0, grace_s=0.3, argv=["python3", "-c", FAMILY])
    daemon = int(has_written(site))
    assert peer.expect("exited", 1)["timed_out"] is True
    assert not is_alive(daemon)


def test_stragglers_at_the_limit_have_the_whole_grace(site: Site, peer: AgentPeer) -> None:
    """A shell dies from SIGTERM at once; its child may still be writing a checkpoint."""
    saving = f"trap 'sleep 2.5; echo saved > {site.path('checkpoint')}; exit' TERM; echo $$; {NO_END}"
    start(site, peer, limit_s=1.0, grace_s=15.0, shell=f'bash -c "{saving}"; echo never')
    assert peer.expect("exited", 1)["timed_out"] is True
    assert site.text("checkpoint") == "saved\n"


@pytest.mark.parametrize("code", [0, 7])
def test_command_that_ends_in_time_has_not_timed_out(site: Site, peer: AgentPeer, code: int) -> None:
    start(site, peer, limit_s=1000.0, shell=f"exit {code}")
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["timed_out"]) == (code, False)


@pytest.mark.parametrize("code", [0, 7])
def test_command_that_had_exited_when_the_limit_was_reached_has_not_timed_out(
    site: Site, peer: AgentPeer, code: int
) -> None:
    """The shim was stopped until both were true."""
    start(site, peer, shell=f"while [ ! -e {site.path('go')} ]; do sleep 0.01; done; exit {code}", limit_s=3.0)
    pid = peer.expect("started", 1)["pid"]
    limit_at = time.monotonic() + 3.0
    shim = site.record(1)["shim_pid"]
    os.kill(shim, signal.SIGSTOP)
    Path(site.path("go")).touch()
    eventually(lambda: not is_alive(pid), "the command's end")
    eventually(lambda: time.monotonic() > limit_at, "the limit")
    os.kill(shim, signal.SIGCONT)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signal"], exited["timed_out"]) == (code, None, False)


class LongLook(Containment):
    """A scan so slow that the command exits before it is complete."""

    def __init__(self, command: subprocess.Popen[bytes]) -> None:
        super().__init__(None, ProcessTree("", 0, 0))
        self._command = command

    def members(self) -> dict[int, int]:
        assert self._command.stdin is not None
        self._command.stdin.close()
        eventually(lambda: not is_alive(self._command.pid), "the command's end")
        return {}


def test_command_that_exits_while_its_tree_is_scanned_has_not_timed_out() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as command:
        limit = Limit(seconds=1e-6, signal=signal.SIGTERM, grace_s=1.0)
        enforced = TimeLimit(limit, command.pid, LongLook(command), stop_deadline=lambda: None, pauses=lambda: NEVER)
        eventually(lambda: enforced.wait() or not is_alive(command.pid), "the limit")
        assert (enforced.has_fired, enforced.kill_at) == (False, None)


def test_orphans_that_end_meanwhile_do_not_disturb_the_limit(site: Site, peer: AgentPeer) -> None:
    orphans = "for n in 1 2 3 4 5 6 7 8; do (sleep 0.0$n &) ; done"
    start(site, peer, shell=f"{orphans}; exec sleep 1000")
    assert peer.expect("exited", 1)["timed_out"] is True


def test_limit_of_centuries_is_accepted(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=9e9, grace_s=9e9, shell="echo $$; exec sleep 1000")
    has_written(site)
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)  # the agent enforces the limit from here on
    assert peer.expect("lost", 1)["alive"] is True
    peer.settle()
    peer.signal(1, signal.SIGTERM, 9e9)
    peer.expect("gone", 1)


def test_null_limit_and_missing_limit_are_the_same(site: Site, peer: AgentPeer) -> None:
    start(site, peer, job=1, limit_s=None, grace_s=0.0, shell=f"echo $$; {NO_END}")
    peer.start(2, shell="exit 4", stdout=site.path("log2"))
    assert peer.expect("exited", 2)["timed_out"] is False
    has_written(site)
    assert site.record(1)["limit"] is None
    peer.signal(1, signal.SIGTERM, 10)
    exited = peer.expect("exited", 1)
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGTERM, False)


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit_s": 0},
        {"limit_s": -1},
        {"limit_s": "6h"},
        {"limit_s": True},
        {"limit_s": float("nan")},
        {"limit_s": float("inf")},
        {"grace_s": -1},
        {"grace_s": None},
        {"stop_signal": 0},
        {"stop_signal": 65},
        {"stop_signal": "TERM"},
    ],
    ids=str,
)
def test_invalid_limit_starts_nothing(site: Site, peer: AgentPeer, wrong: dict[str, Any]) -> None:
    start(site, peer, **{"shell": f"touch {site.path('ran')}", **wrong})
    message = peer.expect("launch_failed", 1)["message"]
    assert next(iter(wrong)) in message or "signal" in message
    assert not os.path.exists(site.path("ran"))


def test_limit_of_one_job_does_not_affect_the_next(site: Site, peer: AgentPeer) -> None:
    shims = []
    for job in range(1, 9):
        has_limit = job % 2 == 1
        limit_s = LIMIT_S if has_limit else None
        start(site, peer, job=job, limit_s=limit_s, shell=f"echo $$; sleep {1000 if has_limit else 2 * LIMIT_S}")
        has_written(site, job)
        shims.append(site.record(job)["shim_pid"])
        exited = peer.expect("exited", job)
        assert (exited["timed_out"], exited["exit_code"]) == ((True, None) if has_limit else (False, 0))
        peer.forget(job)
        eventually(lambda job=job: not (site.state / f"agent/runs/{job}.1").exists(), "the run folder's end")
    assert any(before == after for before, after in pairwise(shims)), "no shim served twice running"


def test_job_stopped_before_its_limit_has_not_timed_out_and_gets_one_signal(site: Site, peer: AgentPeer) -> None:
    counting = f"trap 'echo asked; touch {site.path('asked')}' TERM; echo ready; {NO_END}"
    start(site, peer, limit_s=2.0, grace_s=1.0, shell=counting)
    peer.expect("started", 1)
    has_written(site)
    peer.signal(1, signal.SIGTERM, 1000)
    eventually(lambda: os.path.exists(site.path("asked")))
    exited = peer.expect("exited", 1)  # not after 1000 s: the limit and the grace of the job apply
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGKILL, False)
    assert said(site) == ["ready", "asked"]


def test_job_stopped_after_its_limit_has_timed_out_and_the_shorter_grace_counts(site: Site, peer: AgentPeer) -> None:
    start(site, peer, grace_s=1000.0, shell=f"trap 'echo asked' TERM; echo ready; {NO_END}")
    eventually(lambda: "asked" in site.text("log1"))
    peer.signal(1, signal.SIGTERM, 0.1)
    exited = peer.expect("exited", 1)
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGKILL, True)


def test_limit_holds_without_an_agent(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=1.0, grace_s=0.3, argv=["python3", "-c", FAMILY])
    daemon = int(has_written(site))
    site.kill_agent()
    record = wait_for_record(site)
    assert (record["signal"], record["timed_out"]) == (signal.SIGKILL, True)
    eventually(lambda: not is_alive(daemon) and not marked(site.mark), "the end of the whole tree")
    shim = site.record(1)["shim_pid"]
    eventually(lambda: not is_alive(shim), "the shim's end")
    (run,) = site.boot().hello["runs"]
    assert (run["type"], run["timed_out"]) == ("exited", True)


def test_limit_holds_when_the_agent_is_replaced(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=1.0, grace_s=0.3, shell=STUBBORN)
    has_written(site)
    site.kill_agent()
    peer = site.boot()
    (run,) = peer.hello["runs"]
    exited = run if run["type"] == "exited" else peer.expect("exited", 1)
    assert (exited["signal"], exited["timed_out"]) == (signal.SIGKILL, True)


def test_agent_enforces_the_limit_of_a_killed_shim(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=1.0, grace_s=0.2, shell=STUBBORN)
    pid = int(has_written(site))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    assert peer.expect("lost", 1)["alive"] is True
    peer.expect("gone", 1)
    assert not is_alive(pid)


def test_limit_reached_while_agent_and_shim_were_dead_is_enforced_later(site: Site, peer: AgentPeer) -> None:
    start(site, peer, limit_s=1.0, grace_s=0.2, shell=STUBBORN)
    pid = int(has_written(site))
    site.kill_agent()
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    until = site.record(1)["limit"]["until"]
    eventually(lambda: time.monotonic() > until, "the limit")
    assert is_alive(pid)
    site.boot().expect("gone", 1)
    assert not is_alive(pid)


def test_shim_killed_between_signal_and_kill_leaves_nothing_running(site: Site, peer: AgentPeer) -> None:
    start(site, peer, grace_s=2.0, shell=f"trap 'echo asked' TERM; echo ready; {NO_END}")
    eventually(lambda: "asked" in said(site))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    assert peer.expect("lost", 1)["alive"] is True
    peer.expect("gone", 1)
    assert not marked(site.mark)


def test_records_without_a_limit_are_read(site: Site, peer: AgentPeer) -> None:
    """Records of an older agent: one attempt has ended, the other has lost its shim."""
    peer.start(1, shell="exit 6", stdout=site.path("log1"))
    peer.expect("exited", 1)
    start(site, peer, job=2, limit_s=1000.0, shell=f"echo $$; {NO_END}")
    has_written(site, 2)
    site.kill_agent()
    for job in (1, 2):
        shim = site.record(job)["shim_pid"]
        if job == 2:
            os.kill(shim, signal.SIGKILL)
        eventually(lambda shim=shim: not is_alive(shim), "the shim's end")
    forget_field(site, 1, "exit.json", "timed_out")
    forget_field(site, 1, "start.json", "limit")
    forget_field(site, 2, "start.json", "limit")
    peer = site.boot()
    runs = {run["job"]: run for run in peer.hello["runs"]}
    assert (runs[1]["exit_code"], "timed_out" in runs[1]) == (6, False)
    assert (runs[2]["type"], runs[2]["alive"]) == ("lost", True)
    peer.signal(2, signal.SIGTERM, 10)
    peer.expect("gone", 2)


def forget_field(site: Site, job: int, name: str, field: str) -> None:
    record = site.record(job, name)
    del record["crc"], record[field]
    body = json.dumps(record, separators=(",", ":"))
    path = site.state / f"agent/runs/{job}.1/{name}"
    path.write_text(f'{body[:-1]},"crc":{crc32(body.encode())}}}\n'.ljust(1024))
