"""How much memory attempts take, for those without a cgroup."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.agent.procs import job_memory
from tarmac.agent.procs.containment import Containment
from tarmac.agent.procs.proc_scan import ProcessTree, read_all
from tarmac.shared.system import proc
from tarmac.shared.system.proc import Stat


def an_attempt(number: int) -> Any:
    """One whose shim is this process."""
    own = proc.read_stat(os.getpid())
    assert own is not None
    tree = ProcessTree(f"mark{number}", own.pid, own.start_time)
    return SimpleNamespace(
        is_over=False,
        leaf=None,
        key=SimpleNamespace(job=number, attempt=1),
        escalation=SimpleNamespace(containment=lambda: Containment(None, tree)),
    )


def test_one_scan_of_all_processes_serves_every_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[dict[int, Stat]] = []

    def counted() -> dict[int, Stat]:
        scans.append(read_all())
        return scans[-1]

    monkeypatch.setattr(job_memory, "read_all", counted)
    program = "b = bytearray(20 << 20); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        found = job_memory.answer({"type": "job_memory", "ref": 1}, [an_attempt(number) for number in range(20)])
        process.stdin.close()
    assert [one["job"] for one in found["taken"]] == list(range(20))
    assert min(one["bytes"] for one in found["taken"]) > 20 << 20
    assert len(scans) == 1
