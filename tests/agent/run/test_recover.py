"""Agents, shims and machines die at the worst moment: no attempt is lost, and none runs twice."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

from tarmac.agent.procs.proc_scan import descendants, read_all
from tests.agent_peer import AgentPeer, Site, eventually, is_alive


def start_waiting(site: Site, peer: AgentPeer, job: int = 1, then: str = "exit 42") -> int:
    """Start a job that runs until the file `go` exists."""
    script = (
        f"echo $$; echo ran >> {site.path('witness')}; while [ ! -e {site.path('go')} ]; do sleep 0.01; done; {then}"
    )
    peer.start(job, shell=script, stdout=site.path(f"log{job}"))
    peer.expect("started", job)
    return int(eventually(lambda: site.text(f"log{job}")))


def go(site: Site) -> None:
    Path(site.path("go")).touch()


def test_job_outlives_a_killed_agent_and_its_exit_code_is_reported(site: Site, peer: AgentPeer) -> None:
    pid = start_waiting(site, peer)
    site.kill_agent()
    peer = site.boot()
    assert [(run["type"], run["pid"]) for run in peer.hello["runs"]] == [("started", pid)]
    go(site)
    assert peer.expect("exited", 1)["exit_code"] == 42


def test_exit_without_an_agent_is_reported_later(site: Site, peer: AgentPeer) -> None:
    start_waiting(site, peer)
    site.kill_agent()
    go(site)
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip())
    shim = site.record(1)["shim_pid"]
    eventually(lambda: not is_alive(shim))
    (run,) = site.boot().hello["runs"]
    assert (run["type"], run["exit_code"], run["started_at"] < run["ended_at"]) == ("exited", 42, True)


def test_job_outlives_an_agent_that_is_asked_to_end(site: Site, peer: AgentPeer) -> None:
    pid = start_waiting(site, peer)
    site.stop_agent()
    assert is_alive(pid)
    go(site)
    peer = site.boot()
    if peer.hello["runs"][0]["type"] == "started":
        peer.expect("exited", 1, exit_code=42)


def test_job_of_an_earlier_agent_can_be_signalled(site: Site, peer: AgentPeer) -> None:
    start_waiting(site, peer)
    site.kill_agent()
    peer = site.boot()
    peer.signal(1, signal.SIGTERM, 10)
    assert peer.expect("exited", 1)["signal"] == signal.SIGTERM


def test_deadline_given_to_an_earlier_agent_holds(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="trap '' TERM; echo $$; while :; do sleep 0.01; done", stdout=site.path("log1"))
    eventually(lambda: site.text("log1"))
    peer.signal(1, signal.SIGTERM, 1.0)
    peer.settle()
    site.kill_agent()
    peer = site.boot()
    (run,) = peer.hello["runs"]  # it may have taken longer to start than the deadline
    exited = run if run["type"] == "exited" else peer.expect("exited", 1)
    assert exited["signal"] == signal.SIGKILL


def test_second_start_after_an_agent_restart_starts_nothing(site: Site, peer: AgentPeer) -> None:
    start_waiting(site, peer)
    site.kill_agent()
    peer = site.boot()
    peer.start(1, shell=f"echo again >> {site.path('witness')}", stdout=site.path("again"))
    peer.expect("started", 1)
    go(site)
    peer.expect("exited", 1, exit_code=42)
    assert site.text("witness") == "ran\n"


def test_killed_shim_is_reported_as_lost_and_later_gone(site: Site, peer: AgentPeer) -> None:
    pid = start_waiting(site, peer)
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    lost = peer.expect("lost", 1)
    assert lost["alive"] is True
    assert is_alive(pid)
    assert site.connect().hello["runs"] == [lost]
    peer = site.connect()
    go(site)
    gone = peer.expect("gone", 1)
    assert not is_alive(pid)
    assert site.connect().hello["runs"] == [gone]


def test_job_without_a_shim_can_be_stopped(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="trap '' TERM; sleep 1000 & echo $!; while :; do sleep 0.01; done", stdout=site.path("log1"))
    child = int(eventually(lambda: site.text("log1")))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    assert peer.expect("lost", 1)["alive"] is True
    peer.signal(1, signal.SIGTERM, 0.2)
    peer.expect("gone", 1)
    assert not is_alive(child)


def test_child_without_mark_or_session_is_found_after_its_shim_was_killed(site: Site, peer: AgentPeer) -> None:
    hidden = "setsid env -i sh -c 'echo $$; while :; do sleep 0.05; done'"
    peer.start(1, shell=f"{hidden} & disown; sleep 1000", stdout=site.path("log1"))
    pid = int(eventually(lambda: site.text("log1")))
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    os.kill(site.record(1)["pid"], signal.SIGKILL)
    assert peer.expect("lost", 1)["alive"] is True
    peer.signal(1, signal.SIGTERM, 0)
    peer.expect("gone", 1)
    assert not is_alive(pid)


def test_shim_and_agent_killed_together(site: Site, peer: AgentPeer) -> None:
    pid = start_waiting(site, peer)
    site.kill_agent()
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert (run["type"], run["alive"]) == ("lost", True)
    peer.signal(1, signal.SIGTERM, 0)
    peer.expect("gone", 1)
    assert not is_alive(pid)


def test_whole_tree_and_shim_killed_at_once_is_lost_for_good(site: Site, peer: AgentPeer) -> None:
    pid = start_waiting(site, peer)
    site.kill_agent()
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    os.killpg(pid, signal.SIGKILL)
    eventually(lambda: not is_alive(pid))
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert run["type"] in ("lost", "gone")
    if run["type"] == "lost" and run["alive"]:  # the shell's `sleep` may end a moment later
        peer.expect("gone", 1)


def test_shim_killed_among_stragglers_still_leaves_the_exit_code(site: Site, peer: AgentPeer) -> None:
    peer.start(
        1,
        shell="(trap '' TERM; echo $BASHPID; while :; do sleep 0.01; done) & sleep 0.1; exit 6",
        stdout=site.path("log1"),
    )
    straggler = int(eventually(lambda: site.text("log1")))
    eventually(lambda: site.text("agent/runs/1.1/exit.json").strip())
    os.kill(site.record(1)["shim_pid"], signal.SIGKILL)
    assert peer.expect("exited", 1)["exit_code"] == 6
    assert not is_alive(straggler)


def test_restart_of_the_machine_is_noticed(site: Site, peer: AgentPeer) -> None:
    start_waiting(site, peer)
    peer.start(2, shell="exit 9", stdout=site.path("log2"))
    exited = peer.expect("exited", 2)
    site.kill_agent()
    shim = site.record(1)["shim_pid"]
    os.kill(shim, signal.SIGKILL)
    peer = site.boot(TARMAC_BOOT_ID="another-boot")
    runs = {run["job"]: run for run in peer.hello["runs"]}
    assert (runs[1]["type"], runs[1]["alive"]) == ("lost", False)
    assert "restarted" in runs[1]["message"]
    assert runs[2] == {**exited, "ended_s": None}, "the boot clock began anew"


def test_folder_that_never_ran_is_removed_and_the_job_can_start(site: Site, peer: AgentPeer) -> None:
    site.kill_agent()
    (site.state / "agent/runs/1.1").mkdir()
    (site.state / "agent/runs/1.1/lock").touch()
    (site.state / "agent/runs/1.1/start.json").write_text('{"job":1,"torn')
    peer = site.boot()
    assert peer.hello["runs"] == []
    peer.start(1, shell="exit 3", stdout=site.path("log"))
    assert peer.expect("exited", 1)["exit_code"] == 3


def test_folder_with_a_wrong_name_is_renamed(site: Site, peer: AgentPeer) -> None:
    """After a power cut a rename may be undone while the record in the folder is on disk."""
    peer.start(1, shell="exit 3", stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    site.kill_agent()
    os.rename(site.state / "agent/runs/1.1", site.state / "agent/spare/9.9")
    peer = site.boot()
    assert peer.hello["runs"] == [exited]
    assert (site.state / "agent/runs/1.1/exit.json").exists()
    peer.start(1, shell="exit 4", stdout=site.path("log2"))
    assert peer.expect("exited", 1) == exited


def test_exit_that_was_not_forgotten_is_reported_again_by_the_next_agent(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="exit 8", stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    site.kill_agent()
    peer = site.boot()
    (run,) = peer.hello["runs"]
    if run["type"] == "started":  # its shim was about to end
        run = peer.expect("exited", 1)
    assert run == exited


def test_idle_shims_end_with_their_agent(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["true"], stdout=site.path("log"))
    peer.expect("exited", 1)
    shims = [int(pid) for pid in Path(f"/proc/{site.agent.pid}/task/{site.agent.pid}/children").read_text().split()]
    assert shims
    site.kill_agent()
    eventually(lambda: not any(is_alive(pid) for pid in shims))


# Sheds every trait of its job but the limits.
HIDDEN = "setsid env -i sh -c 'echo $$; exec >&- 2>&- <&-; while :; do sleep 0.05; done'"


def start_hidden(site: Site, peer: AgentPeer) -> int:
    """Start a job whose hidden process is the only one left: shim, command and agent are killed together."""
    peer.start(1, shell=f"{HIDDEN} & disown; sleep 1000", stdout=site.path("log1"))
    pid = int(eventually(lambda: site.text("log1")))
    peer.expect("started", 1)
    start = site.record(1)
    site.agent.kill()
    for one in (start["shim_pid"], start["pid"]):
        os.kill(one, signal.SIGKILL)
    site.agent.wait()
    eventually(lambda: not is_alive(start["shim_pid"]))
    return pid


def test_hidden_process_is_found_although_shim_and_agent_were_killed_together(site: Site, peer: AgentPeer) -> None:
    pid = start_hidden(site, peer)
    peer = site.boot()
    (run,) = peer.hello["runs"]
    assert run["type"] == "gone" or (run["type"], run["alive"]) == ("lost", True)
    if run["type"] != "gone":
        peer.expect("gone", 1)
    assert not is_alive(pid), "it was ended before its GPUs are free"


def test_job_under_a_real_limit_keeps_its_gpus_until_it_is_killed(tmp_path: Path) -> None:
    """It cannot be tagged, so nobody knows whether a hidden process is left."""
    site = Site(tmp_path, "scan")
    peer = site.boot()
    for pid in descendants(read_all(), {site.agent.pid}):
        resource.prlimit(pid, resource.RLIMIT_RTTIME, (200_000, 200_000))
    pid = start_hidden(site, peer)
    assert resource.prlimit(pid, resource.RLIMIT_RTTIME) == (200_000, 200_000), "the limit of the user stays"
    try:
        peer = site.boot()
        (run,) = peer.hello["runs"]
        assert (run["type"], run["alive"]) == ("lost", True)
        assert "kill the job to release its GPUs" in run["message"]
        site.kill_agent()
        peer = site.boot()
        assert peer.hello["runs"][0]["alive"] is True, "also the second time"
        peer.signal(1, signal.SIGTERM, 0)
        peer.expect("gone", 1)
    finally:
        os.kill(pid, signal.SIGKILL)
        site.clean_up()
