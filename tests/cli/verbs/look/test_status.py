"""The output of `tarmac status`, fitted to the terminal."""

from typing import Any

from tarmac.cli.verbs.look.status import lines

STATUS: dict[str, Any] = {
    "running": 2, "queued": 3, "paused": False, "paused_reason": None, "draining": False, "controller_pid": 41,
    "version": "0", "agent_pid": 42, "containment": "cgroup", "policy": "fifo", "order": "submitted",
    "home": "/home/ann/" + "deep/" * 20,
}  # fmt: skip


def said(width: int | None, **more: object) -> list[str]:
    return list(lines(STATUS | more, [], width=width, has_colours=False))


def test_a_long_reason_wraps() -> None:
    reason = "10 jobs in a row failed within 5 s of their start, the last was job 17 (exit code 127)"
    shown = said(60, paused=True, paused_reason=reason)
    state = next(line for line in shown if line.startswith("state"))
    assert all(len(line) <= 60 for line in shown if line != state)
    begin = shown.index(next(line for line in shown if line.startswith("gpus")))
    whole = " ".join(line.strip() for line in shown[:begin])
    assert whole == f"queue        2 running, 3 queued, PAUSED: {reason}"
    assert all(line.startswith(" " * 13) for line in shown[1:begin])


def test_a_path_is_not_wrapped() -> None:
    assert f"state        {STATUS['home']}" in said(40)


def test_without_a_terminal_every_fact_is_one_line() -> None:
    assert len(said(None, paused=True, paused_reason="new driver " * 30)) == len(said(None))


def node(name: str, **more: object) -> dict[str, object]:
    return {
        "name": name, "connected": True, "since": "2026-01-01T00:00:00Z", "problem": None, "agent_pid": 5, "gpus": 2,
        "cpus": 8, "memory_total_bytes": 64 << 30, "memory_available_bytes": 16 << 30, **more,
    }  # fmt: skip


def test_the_memory_of_the_host_is_shown() -> None:
    assert "memory       16.0G of 64.0G available" in said(None, nodes=[node("desk")])
    assert "memory       not known yet" in said(None, nodes=[node("desk", memory_available_bytes=None)])


def test_each_of_several_nodes_is_shown() -> None:
    away = node("big", connected=False, problem="no route to host")
    shown = said(None, nodes=[node("desk"), away])
    assert "node desk    agent pid 5, 2 GPUs, memory 16.0G of 64.0G available" in shown
    (line,) = [line for line in shown if line.startswith("node big")]
    assert "not connected since 2026-01-01" in line
    assert line.endswith(": no route to host")


def test_paused_and_draining_are_both_shown() -> None:
    first = said(None, paused=True, draining=True, paused_reason="new driver")[0]
    assert first == "queue        2 running, 3 queued, PAUSED and DRAINING: new driver"
    assert said(None)[0] == "queue        2 running, 3 queued"


def test_every_target_that_fails_is_named() -> None:
    trouble = {"waiting": 4, "failed": 1, "target": "mail", "error": "refused", "failing": ["hook", "mail"]}
    shown = said(None, notifications=trouble)
    assert "notify       4 messages waiting, 1 not delivered; mail: refused; also failing: hook" in shown
