"""Starting a job: the command runs as requested, its output goes to the right file, its exit is reported exactly."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from tests.agent_peer import AGENT_PYTHON, AgentPeer, Site, children, eventually


def test_exit_code_is_reported(site: Site, peer: AgentPeer) -> None:
    for job, code in enumerate([0, 1, 42, 255]):
        peer.start(job, shell=f"exit {code}", stdout=site.path(f"log{job}"))
        started = peer.expect("started", job)
        exited = peer.expect("exited", job)
        assert (exited["exit_code"], exited["signal"]) == (code, None)
        assert exited["pid"] == started["pid"]
        assert exited["started_at"] == started["started_at"] <= exited["ended_at"]


def test_death_by_signal_is_reported(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="kill -SEGV $$", stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    assert (exited["exit_code"], exited["signal"]) == (None, 11)


def test_argv_reaches_the_command_as_given(site: Site, peer: AgentPeer) -> None:
    words = ["a b", "", "it's", '"', "\n", "ünïcode 🛫", "$HOME", "x" * 100_000]
    peer.start(1, argv=["printf", "%s\\0", *words], stdout=site.path("log"))
    assert peer.expect("exited", 1)["exit_code"] == 0
    assert site.text("log").split("\0")[:-1] == words


def test_undecodable_bytes_in_arguments_survive(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["printf", "%s", os.fsdecode(b"\xff\xfe")], stdout=site.path("log"))
    peer.expect("exited", 1)
    assert Path(site.path("log")).read_bytes() == b"\xff\xfe"


def test_output_is_merged_in_order_when_there_is_one_file(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="echo 1; echo 2 >&2; echo 3", stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "1\n2\n3\n"


def test_output_is_split_when_there_are_two(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="echo out; echo err >&2", stdout=site.path("out"), stderr=site.path("err"))
    peer.expect("exited", 1)
    assert (site.text("out"), site.text("err")) == ("out\n", "err\n")


def test_existing_log_is_not_overwritten(site: Site, peer: AgentPeer) -> None:
    Path(site.path("log")).write_text("precious\n")
    peer.start(1, shell="echo new", stdout=site.path("log"))
    assert f"{site.path('log')}: the log exists already" in peer.expect("launch_failed", 1)["message"]
    assert site.text("log") == "precious\n"


def test_existing_empty_log_is_used(site: Site, peer: AgentPeer) -> None:
    Path(site.path("log")).touch()
    peer.start(1, shell="echo new", stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "new\n"


def test_log_is_appended_to_on_request(site: Site, peer: AgentPeer) -> None:
    Path(site.path("log")).write_text("old\n")
    peer.start(1, shell="echo new", stdout=site.path("log"), append=True)
    peer.expect("exited", 1)
    assert site.text("log") == "old\nnew\n"


def test_log_may_be_the_null_device(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="echo new", stdout="/dev/null")
    assert peer.expect("exited", 1)["exit_code"] == 0


def test_umask_cwd_and_environment_are_the_submitters(site: Site, peer: AgentPeer) -> None:
    env = {"PATH": os.environ["PATH"], "WORD": "a b\nc"}
    peer.start(
        1, shell='touch made; pwd; echo "$WORD"; env', stdout=site.path("log"), cwd=site.path(""), umask=0o027, env=env
    )
    peer.expect("exited", 1)
    lines = site.text("log").splitlines()
    assert lines[:3] == [str(site.state), "a b", "c"]
    assert stat.S_IMODE(os.stat(site.path("made")).st_mode) == 0o640
    assert not [line for line in lines if line.startswith("TARMAC_CONTAINMENT")], "the agent's environment leaked"


def test_the_command_runs_with_the_nice_value_it_was_given(site: Site, peer: AgentPeer) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)  # the agent inherits it
    for job, options in ((1, {"nice": 7}), (2, {"nice": 0}), (3, {}), (4, {"nice": 7, "of a newer controller": 1})):
        peer.start(job, shell="nice; cut -d' ' -f19 /proc/$PPID/stat", stdout=site.path(f"log{job}"), options=options)
        peer.expect("exited", job)
        assert site.text(f"log{job}").split() == [str(own + options.get("nice", 0)), str(own)], "the shim keeps its own"


def test_an_option_of_the_wrong_type_is_refused(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="true", stdout=site.path("log"), options={"nice": "much"})
    assert "nice must be of type int" in peer.expect("launch_failed", 1)["message"]


def test_stdin_is_empty_and_no_descriptor_leaks(site: Site, peer: AgentPeer) -> None:
    script = "import os, sys; print(sys.stdin.read() == '', sorted(os.listdir('/proc/self/fd'))[:-1])"
    peer.start(1, argv=["python3", "-c", script], stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "True ['0', '1', '2']\n"


def test_signals_are_as_in_a_fresh_login(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="grep -E 'SigBlk|SigIgn' /proc/self/status; ulimit -Sn", stdout=site.path("log"))
    peer.expect("exited", 1)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert site.text("log") == f"SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n{limit}\n"


# GNU make starts its children this way. glibc reserves the two signals, and Python cannot name them.
LIKE_MAKE = """#!{python}
import ctypes, os, sys
ignore = (ctypes.c_void_p * 4)(1)
for signum in (32, 33):
    number = {{"x86_64": 13, "aarch64": 134}}[os.uname().machine]
    assert ctypes.CDLL(None).syscall(number, signum, ignore, None, ctypes.c_size_t(8)) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def test_signals_ignored_by_the_agents_parent_are_not_ignored_by_jobs(site: Site, tmp_path: Path) -> None:
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("the number of rt_sigaction here is not known")
    site.kill_agent()
    launcher = tmp_path / "launcher"
    launcher.write_text(LIKE_MAKE.format(python=AGENT_PYTHON))
    launcher.chmod(0o755)
    peer = site.boot(python=str(launcher))
    peer.start(1, shell="grep SigIgn /proc/self/status", stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "SigIgn:\t0000000000000000\n"


def test_command_leads_its_own_session(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["python3", "-c", "import os; print(os.getsid(0) == os.getpid())"], stdout=site.path("log"))
    peer.expect("exited", 1)
    assert site.text("log") == "True\n"


def test_master_ports_of_living_jobs_differ(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 6):
        peer.start(job, shell="echo $MASTER_PORT; exec sleep 100", stdout=site.path(f"log{job}"))
    ports = [int(eventually(lambda job=job: site.text(f"log{job}"))) for job in range(1, 6)]
    assert len(set(ports)) == 5
    assert all(20000 <= port < 32000 for port in ports)


def test_many_at_once_all_run(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 61):
        peer.start(job, shell=f"exit {job}", stdout=site.path(f"log{job}"))
    assert [peer.expect("exited", job)["exit_code"] for job in range(1, 61)] == list(range(1, 61))


LAUNCH_FAILURES = {
    "not on the path": ({"argv": ["no-such-program"], "env": {"PATH": "/opt/nowhere:/bin"}},
                        "no-such-program: command not found (PATH searched: /opt/nowhere:/bin)"),
    "no such file": ({"argv": ["./nothing"]}, "./nothing: no such file"),
    "not executable": ({"argv": ["./plain"]}, "./plain: not executable"),
    "not executable on the path": ({"argv": ["plain"], "env": {"PATH": "."}}, "plain: not executable"),
    "a directory": ({"argv": ["./readonly"]}, "./readonly: is a directory"),
    "no interpreter": ({"argv": ["./script"]}, "./script: its interpreter is missing"),
    "no program": ({"argv": ["./text"]}, "./text: not a program"),
    "arguments too long": ({"argv": ["true", "x" * 3_000_000]}, "too long"),
    "empty": ({"argv": []}, "the command is empty"),
    "null byte": ({"argv": ["true", "a\0b"]}, "true: cannot be started: embedded null byte"),
    "cwd is gone": ({"argv": ["true"], "cwd": "/opt/vanished"}, "/opt/vanished: the working directory does not exist"),
    "cwd is file": ({"argv": ["true"], "cwd": "/etc/passwd"}, "/etc/passwd: cannot enter the working directory: Not a"),
    "no log directory": ({"argv": ["true"], "stdout": "/opt/missing/x"}, "the directory /opt/missing does not exist"),
    "log cannot be written": ({"argv": ["true"], "stdout": "/proc/x.log"}, "/proc/x.log: cannot write the log"),
    "log is a directory": ({"argv": ["true"], "stdout": "/etc"}, "/etc: cannot write the log: Is a directory"),
    "bad environment": ({"argv": ["true"], "env": {"A": 1}}, "env must be an object of strings"),
}  # fmt: skip


def test_launch_failure_says_why(site: Site, peer: AgentPeer) -> None:
    (site.state / "readonly").mkdir()
    (site.state / "plain").write_text("#!/bin/sh\n")
    for name, text in {"script": "#!/opt/no/python\n", "text": "hello"}.items():
        (site.state / name).write_text(text)
        (site.state / name).chmod(0o755)
    for job, (case, (fields, message)) in enumerate(LAUNCH_FAILURES.items()):
        peer.start(job, **{"stdout": site.path("log"), "cwd": str(site.state), **fields})
        assert message in peer.expect("launch_failed", job)["message"], case
        assert not site.text("log"), case


def test_second_start_is_answered_and_starts_nothing(site: Site, peer: AgentPeer) -> None:
    for _ in range(3):
        peer.start(1, shell=f"echo ran >> {site.path('witness')}", stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    peer.start(1, shell=f"echo ran >> {site.path('witness')}", stdout=site.path("log"))
    assert peer.expect("exited", 1) == exited
    assert site.text("witness") == "ran\n"


def test_final_report_is_repeated_until_forgotten(site: Site, peer: AgentPeer) -> None:
    peer.start(1, shell="exit 7", stdout=site.path("log"))
    exited = peer.expect("exited", 1)
    assert site.connect().hello["runs"] == [exited]
    last = site.connect()
    last.forget(1)
    eventually(lambda: not os.listdir(site.path("agent/runs")), "the run folder's end")
    assert site.connect().hello["runs"] == []


def test_forgotten_folder_is_reused(site: Site, peer: AgentPeer) -> None:
    for attempt in range(1, 21):
        peer.start(1, attempt, shell=f"exit {attempt}", stdout=site.path(f"log{attempt}"))
        assert peer.expect("exited", 1, attempt=attempt)["exit_code"] == attempt
        peer.forget(1, attempt)
    eventually(lambda: not os.listdir(site.path("agent/runs")), "the run folders' end")
    assert len(os.listdir(site.path("agent/spare"))) <= 64


def test_unfinished_attempt_is_not_forgotten(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["sleep", "100"], stdout=site.path("log"))
    started = peer.expect("started", 1)
    peer.forget(1)
    assert site.connect().hello["runs"] == [started]


def test_no_cgroup_is_left_behind(site: Site, peer: AgentPeer) -> None:
    peer.start(1, argv=["true"], stdout=site.path("log"))
    peer.expect("exited", 1)
    leaf = site.record(1)["cgroup"]
    if site.containment == "scan":
        assert leaf is None
        return
    site.stop_agent()
    eventually(lambda: not os.path.exists(leaf), "the end of the cgroup")


def test_job_runs_although_the_waiting_process_was_killed(site: Site, peer: AgentPeer) -> None:
    """Such as by a late signal for the previous attempt of the same shim."""
    peer.start(1, argv=["true"], stdout=site.path("log1"))
    peer.expect("exited", 1)
    shim = site.record(1)["shim_pid"]
    (waiting,) = eventually(lambda: Path(f"/proc/{shim}/task/{shim}/children").read_text().split())
    os.kill(int(waiting), 9)
    peer.forget(1)
    eventually(lambda: not os.listdir(site.path("agent/runs")), "the run folder's end")
    peer.start(2, shell="exit 3", stdout=site.path("log2"))
    assert peer.expect("exited", 2)["exit_code"] == 3
    assert site.record(2)["shim_pid"] == shim


def test_job_runs_although_the_idle_shim_was_killed(site: Site, peer: AgentPeer) -> None:
    for job in range(1, 6):
        for shim in children(site.agent.pid, "tarmac-shim"):
            os.kill(shim, 9)
        peer.start(job, shell=f"exit {job}", stdout=site.path(f"log{job}"))
        assert peer.expect("exited", job)["exit_code"] == job
        peer.forget(job)


def test_shim_leaks_no_descriptors_of_earlier_jobs(site: Site, peer: AgentPeer) -> None:
    counts = set()
    for job in range(1, 13):
        failing = job % 3 == 0
        peer.start(job, argv=["no-such-program" if failing else "true"], stdout=site.path(f"log{job}"))
        peer.expect("launch_failed" if failing else "exited", job)
        shim = site.record(job)["shim_pid"]
        eventually(lambda shim=shim: Path(f"/proc/{shim}/task/{shim}/children").read_text().split())
        peer.forget(job)
        eventually(lambda: not os.listdir(site.path("agent/runs")), "the run folder's end")
        counts.add(len(os.listdir(f"/proc/{shim}/fd")))
    assert len(counts) == 1
