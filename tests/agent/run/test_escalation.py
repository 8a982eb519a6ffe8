"""Stopping a job: the whole tree gets the signal and the grace period, and is gone when the exit is reported."""

from __future__ import annotations

import os
import signal

import pytest

from tarmac.agent.records.run_folder import RunFolder
from tests.agent_peer import AgentPeer, Site, eventually, is_alive

DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if "clear" in sys.argv:
            os.execve("/bin/sh", ["sh", "-c", 'trap "" TERM; echo $$; while :; do sleep 1; done'], {})
        print(os.getpid(), flush=True)
        time.sleep(1000)
    os._exit(0)
os.wait()
"""
LOYAL = DAEMON + "time.sleep(1000)\n"


def start_and_read_pid(site: Site, peer: AgentPeer, job: int = 1, **command: object) -> int:
    peer.start(job, stdout=site.path(f"log{job}"), **command)
    peer.expect("started", job)
    return int(eventually(lambda: site.text(f"log{job}").endswith("\n") and site.text(f"log{job}")))


def test_term_reaches_the_whole_tree(site: Site, peer: AgentPeer) -> None:
    script = f"(trap 'echo child >> {site.path('seen')}; exit' TERM; echo $$; while :; do sleep 0.01; done) & wait"
    start_and_read_pid(site, peer, shell=script)
    peer.signal(1, signal.SIGTERM, 10)
    assert peer.expect("exited", 1)["signal"] == signal.SIGTERM
    assert site.text("seen") == "child\n"


def test_exit_code_of_a_command_that_obeys_is_reported(site: Site, peer: AgentPeer) -> None:
    start_and_read_pid(site, peer, shell="trap 'exit 33' TERM; echo $$; while :; do sleep 0.01; done")
    peer.signal(1, signal.SIGTERM, 10)
    assert peer.expect("exited", 1)["exit_code"] == 33


def test_command_that_ignores_term_is_killed_after_the_grace(site: Site, peer: AgentPeer) -> None:
    start_and_read_pid(site, peer, shell="trap '' TERM; echo $$; while :; do sleep 0.01; done")
    peer.signal(1, signal.SIGTERM, 0.3)
    exited = peer.expect("exited", 1)
    assert exited["signal"] == signal.SIGKILL


def test_no_grace_kills_at_once(site: Site, peer: AgentPeer) -> None:
    start_and_read_pid(site, peer, shell="trap 'exit 33' TERM; echo $$; while :; do sleep 0.01; done")
    peer.signal(1, signal.SIGTERM, 0)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL


def test_shorter_grace_brings_the_deadline_forward_and_a_longer_one_does_not_delay_it(
    site: Site, peer: AgentPeer
) -> None:
    start_and_read_pid(site, peer, shell="trap '' TERM; echo $$; while :; do sleep 0.01; done")
    peer.signal(1, signal.SIGTERM, 1000)
    peer.signal(1, signal.SIGTERM, 0.2)
    peer.signal(1, signal.SIGTERM, 1000)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL


@pytest.mark.parametrize("clear", [False, True], ids=["marked", "environment cleared"])
def test_daemon_of_the_job_is_killed_with_it(site: Site, peer: AgentPeer, clear: bool) -> None:
    daemon = start_and_read_pid(site, peer, argv=["python3", "-c", LOYAL, *(["clear"] if clear else [])])
    peer.signal(1, signal.SIGTERM, 0.2)
    peer.expect("exited", 1)
    assert not is_alive(daemon)


@pytest.mark.parametrize("clear", [False, True], ids=["marked", "environment cleared"])
def test_stragglers_are_gone_before_the_exit_is_reported(site: Site, peer: AgentPeer, clear: bool) -> None:
    daemon = start_and_read_pid(site, peer, argv=["python3", "-c", DAEMON, *(["clear"] if clear else [])])
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip())
    peer.signal(1, signal.SIGTERM, 0)
    exited = peer.expect("exited", 1)
    assert exited["exit_code"] == 0
    assert not is_alive(daemon)


def test_stragglers_are_ended_without_a_request(site: Site, peer: AgentPeer) -> None:
    straggler = start_and_read_pid(site, peer, shell="sleep 1000 & echo $!; exit 5")
    assert peer.expect("exited", 1)["exit_code"] == 5
    assert not is_alive(straggler)


def test_stragglers_of_a_killed_job_have_the_whole_grace(site: Site, peer: AgentPeer) -> None:
    """A shell dies from SIGTERM at once; its child may still be writing a checkpoint."""
    saving = (
        f"trap 'sleep 2.5; echo saved > {site.path('checkpoint')}; exit' TERM; echo $$; while :; do sleep 0.01; done"
    )
    start_and_read_pid(site, peer, shell=f'bash -c "{saving}"; echo never')
    peer.signal(1, signal.SIGTERM, 15)
    peer.expect("exited", 1)
    assert site.text("checkpoint") == "saved\n"


def test_signal_sent_right_after_the_start_is_not_lost(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 6):
        peer.start(job, argv=["sleep", "1000"], stdout=site.path(f"log{job}"))
        peer.signal(job, signal.SIGTERM, 1000)
    for job in range(1, 6):
        assert peer.expect("exited", job)["signal"] == signal.SIGTERM


def test_signal_to_an_unknown_or_ended_job_is_ignored(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["true"], stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    peer.signal(1, signal.SIGTERM, 0)
    peer.signal(2, signal.SIGTERM, 0)
    peer.settle()
    assert site.connect().hello["runs"] == [exited]


def test_other_jobs_are_not_signalled(site: Site, peer: AgentPeer) -> None:
    other = start_and_read_pid(site, peer, job=2, shell="echo $$; exec sleep 1000")
    start_and_read_pid(site, peer, shell="echo $$; exec sleep 1000")
    peer.signal(1, signal.SIGTERM, 0)
    peer.expect("exited", 1)
    assert is_alive(other)
    assert site.connect().hello["runs"][0]["type"] == "started"


def test_shim_of_a_killed_job_runs_the_next(site: Site, peer: AgentPeer) -> None:
    shims = set()
    for job in range(1, 8):
        start_and_read_pid(site, peer, job, shell="trap '' TERM; echo $$; while :; do sleep 0.01; done")
        shims.add(site.record(job)["shim_pid"])
        peer.signal(job, signal.SIGTERM, 0)
        assert peer.expect("exited", job)["signal"] == signal.SIGKILL
        peer.forget(job)
        eventually(lambda job=job: not (site.state / f"agent/runs/{job}.1").exists(), "the run folder's end")
    assert len(shims) < 7


HEARS_ALL = """
import os, signal, sys, time
number = int(sys.argv[1])
signal.signal(number, lambda *_: os.write(1, b"heard\\n"))
if os.fork() == 0:
    os.setsid()
os.write(1, b"ready\\n")
while True:
    time.sleep(0.01)
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN, 64])
def test_any_signal_reaches_the_whole_tree(site: Site, peer: AgentPeer, number: int) -> None:
    peer.start(1, argv=["python3", "-c", HEARS_ALL, str(int(number))], stdout=site.path("log1"))
    peer.expect("started", 1)
    eventually(lambda: site.text("log1") == "ready\nready\n")
    peer.signal(1, number, 1000)
    eventually(lambda: site.text("log1").count("heard") == 2, "both have heard it")
    peer.signal(1, number, 0)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL


def test_every_signal_can_be_requested_and_is_followed_by_sigkill(site: Site, peer: AgentPeer) -> None:
    for number in range(1, 65):
        start_and_read_pid(site, peer, number, shell="echo $$; exec sleep 1000")
        peer.signal(number, number, 0.05)
    for number in range(1, 65):
        exited = peer.expect("exited", number)
        assert exited["signal"] in (number, signal.SIGKILL)
        assert exited["timed_out"] is False


def test_sigkill_does_not_wait_for_the_grace(site: Site, peer: AgentPeer) -> None:
    child = start_and_read_pid(site, peer, shell="(trap '' TERM; echo $BASHPID; while :; do sleep 0.01; done) & wait")
    peer.signal(1, signal.SIGKILL, 1000)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL
    assert not is_alive(child)


def test_stopped_process_is_continued_to_handle_its_signal(site: Site, peer: AgentPeer) -> None:
    pid = start_and_read_pid(site, peer, shell="trap 'exit 21' USR1; echo $$; while :; do sleep 0.01; done")
    os.kill(pid, signal.SIGSTOP)
    peer.signal(1, signal.SIGUSR1, 1000)
    assert peer.expect("exited", 1)["exit_code"] == 21


def test_grace_longer_than_any_timer_does_not_stop_the_agent(site: Site, peer: AgentPeer) -> None:
    start_and_read_pid(site, peer, shell="trap '' TERM; echo $$; while :; do sleep 0.01; done")
    peer.signal(1, signal.SIGTERM, 1e8)
    peer.settle()
    peer.signal(1, signal.SIGTERM, 0)
    assert peer.expect("exited", 1)["signal"] == signal.SIGKILL


OBEYS = "trap 'exit 0' TERM; echo $$; while :; do sleep 0.01; done"
ENDS = "echo $$; while [ ! -e {go} ]; do sleep 0.01; done; exit 0"


def end_by_itself(site: Site, peer: AgentPeer, job: int = 1, then: str = "") -> int:
    """Let a job end by itself; returns its pid."""
    pid = start_and_read_pid(site, peer, job, shell=then + ENDS.format(go=site.path("go")))
    (site.state / "go").touch()
    return pid


def test_exit_report_says_that_the_command_was_asked_to_stop(site: Site, peer: AgentPeer) -> None:
    start_and_read_pid(site, peer, shell=OBEYS)
    peer.signal(1, signal.SIGTERM, 1000)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signalled"]) == (0, True)
    assert site.record(1, "exit.json")["signalled"] is True


def test_exit_report_says_that_the_command_was_not_asked_to_stop(site: Site, peer: AgentPeer) -> None:
    end_by_itself(site, peer)
    assert peer.expect("exited", 1)["signalled"] is False
    assert site.record(1, "exit.json")["signalled"] is False


def test_command_that_ended_before_the_request_was_not_asked_to_stop(site: Site, peer: AgentPeer) -> None:
    """Its shim is frozen, so nobody but the kernel knows yet that it ended."""
    pid = start_and_read_pid(site, peer, shell=ENDS.format(go=site.path("go")))
    shim = site.record(1)["shim_pid"]
    os.kill(shim, signal.SIGSTOP)
    (site.state / "go").touch()
    eventually(lambda: not is_alive(pid))
    peer.signal(1, signal.SIGTERM, 1000)
    peer.signal(1, signal.SIGTERM, 500)
    peer.settle()
    os.kill(shim, signal.SIGCONT)
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signalled"]) == (0, False)


def test_request_that_reaches_only_stragglers_was_too_late_for_the_command(site: Site, peer: AgentPeer) -> None:
    straggler = "(trap '' TERM; while :; do sleep 0.01; done) & "
    end_by_itself(site, peer, then=straggler)
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip())
    peer.signal(1, signal.SIGTERM, 0)
    assert peer.expect("exited", 1)["signalled"] is False


def test_second_request_for_the_stragglers_does_not_undo_the_first(site: Site, peer: AgentPeer) -> None:
    pid = start_and_read_pid(site, peer, shell="(trap '' TERM; while :; do sleep 0.01; done) & " + OBEYS)
    peer.signal(1, signal.SIGTERM, 1000)
    eventually(lambda: not is_alive(pid))
    peer.signal(1, signal.SIGTERM, 0)
    assert peer.expect("exited", 1)["signalled"] is True


def test_request_during_the_start_precedes_the_end(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 6):
        peer.start(job, argv=["sleep", "1000"], stdout=site.path(f"log{job}"))
        peer.signal(job, signal.SIGTERM, 1000)
    for job in range(1, 6):
        assert peer.expect("exited", job)["signalled"] is True


def test_request_is_remembered_by_the_next_agent(site: Site, peer: AgentPeer) -> None:
    pid = start_and_read_pid(
        site, peer, shell=f"trap 'touch {site.path('heard')}' TERM; " + ENDS.format(go=site.path("go"))
    )
    peer.signal(1, signal.SIGTERM, 1000)
    eventually((site.state / "heard").exists)
    site.kill_agent()
    peer = site.boot()
    (site.state / "go").touch()
    eventually(lambda: not is_alive(pid))
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signalled"]) == (0, True)


@pytest.mark.parametrize("is_requested", [True, False])
def test_exit_record_of_an_older_shim_is_completed(site: Site, peer: AgentPeer, is_requested: bool) -> None:
    """Without a request nothing is added: an older agent may have lost it in a power cut."""
    start_and_read_pid(site, peer, shell=OBEYS)
    if is_requested:
        peer.signal(1, signal.SIGTERM, 1000)
    else:
        os.kill(site.record(1)["pid"], signal.SIGTERM)
    peer.expect("exited", 1)
    site.kill_agent()
    eventually(lambda: not is_alive(site.record(1)["shim_pid"]))
    forget_field(site, "exit.json", "signalled")
    if is_requested:
        forget_field(site, "stop.json", "signalled")
    (run,) = site.boot().hello["runs"]
    assert run.get("signalled") is (True if is_requested else None)


def forget_field(site: Site, name: str, field: str) -> None:
    """Rewrite a record of job 1 as an older version would have written it."""
    parent = os.open(site.state / "agent/runs", os.O_RDONLY)
    folder = RunFolder(parent, "1.1")
    record = folder.read(name)
    assert record is not None
    del record[field]
    folder.write(name, record)
    folder.close()
    os.close(parent)
