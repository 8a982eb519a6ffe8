"""The descriptor limit of the controller, the agent and what they start."""

import resource
from pathlib import Path

from tests.home import Home, until

SOFT = 300


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def soft_limit(pid: int) -> int:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Max open files")).split()[3])


def test_controller_and_agent_use_all_they_may_and_jobs_get_the_limit_of_the_shell(home: Home) -> None:
    home.tarmac("status", preexec_fn=few_descriptors)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert soft_limit(home.pid_of("controller")) == soft_limit(home.pid_of("agent")) == hard
    job = home.add("--gpus", "0", "sh", "-c", "ulimit -Sn; ulimit -Hn")
    home.tarmac("wait", str(job))
    assert home.tarmac("log", str(job)).stdout.split() == [str(SOFT), str(hard)]


def test_an_agent_that_is_started_again_passes_on_the_same_limit(home: Home) -> None:
    home.tarmac("status", preexec_fn=few_descriptors)
    assert home.tarmac("stop", "--keep-agent").returncode == 0
    home.tarmac("status", preexec_fn=few_descriptors)
    job = home.add("--gpus", "0", "sh", "-c", "ulimit -Sn")
    home.tarmac("wait", str(job))
    assert home.tarmac("log", str(job)).stdout.split() == [str(SOFT)]


def test_notify_command_gets_the_limit_of_the_shell(home: Home, tmp_path: Path) -> None:
    told = tmp_path / "told"
    home.tarmac("status", preexec_fn=few_descriptors)
    home.tarmac("set", "notify_command", f"ulimit -Sn > {told}.new && mv {told}.new {told}")
    home.tarmac("set", "suspend_after_failures", "1")
    home.add("--gpus", "1", "false")
    assert until(told.exists), home.tarmac("log", "controller").stdout
    assert told.read_text().split() == [str(SOFT)]
