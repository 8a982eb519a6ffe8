"""The tag in the limits of a job's processes: inherited, lasting, readable, harmless."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tarmac.agent.gpus.gpu_processes import ProcessTable
from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.attribution import Attribution
from tarmac.agent.procs.proc_scan import MARK, ProcessTree
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.run import traces
from tests.agent_peer import eventually
from tests.services import need

INSTANCE = "0123456789abcdef"
KEY = AttemptKey(5, 2)
STRANGER = 65534
NO_PID = 1 << 30
NEST = """
import sys
from tarmac.agent.procs import limit_tag
from tarmac.agent.records.attempt_key import AttemptKey
limits = []
while True:
    tag = limit_tag.tag_for(sys.argv[1], AttemptKey(7, 1))
    if tag is None:
        break
    limit_tag.apply(tag)
    limits.append(tag)
    assert limit_tag.key_of_tag(sys.argv[1], tag) == (7, 1)
assert limits == sorted(limits, reverse=True) and len(set(limits)) == len(limits) > 3, limits
"""


@contextmanager
def process(tag: int | None, *words: str) -> Iterator[int]:
    child = subprocess.Popen(words, preexec_fn=lambda: limit_tag.apply(tag))  # noqa: PLW1509 - one thread
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def test_a_process_that_sheds_everything_else_keeps_its_tag() -> None:
    tag = limit_tag.tag_for(INSTANCE, KEY)
    assert tag is not None
    with process(tag, "setsid", "env", "-i", "sleep", "600") as pid:
        eventually(lambda: b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes())
        assert limit_tag.read_tag(pid) == limit_tag._read_limit(pid) == tag
        assert limit_tag.key_of_tag(INSTANCE, tag) == KEY
        assert limit_tag.key_of_tag("fedcba9876543210", tag) is None
        found = Attribution(INSTANCE, []).key_of(ProcessTable().look_up(pid))
        assert found == KEY, "a process on a GPU is known by it, too"


def is_found(pid: int, tag: int) -> dict[str, bool]:
    """Which parts of the agent count this process as one of the attempt."""
    tree = ProcessTree(f"{INSTANCE}:{KEY}", NO_PID, 0)
    tree.tag = tag
    return {
        "on a GPU": Attribution(INSTANCE, []).key_of(ProcessTable().look_up(pid)) == KEY,
        "by scan": pid in [stat.pid for stat in tree.members()],
        "at the start": pid in [stat.pid for stat in traces.search(INSTANCE).get(KEY, [])],
    }


@pytest.mark.parametrize("trait", ["tag", "mark"])
@pytest.mark.parametrize("is_ours", [True, False], ids=["setuid program", "stranger"])
def test_only_processes_with_our_real_uid_count(trait: str, is_ours: bool) -> None:
    """Everyone can set a limit and an environment. A program with the setuid bit keeps its real uid."""
    need("root")
    tag = limit_tag.tag_for(INSTANCE, KEY)
    assert tag is not None

    def change() -> None:
        if trait == "tag":
            limit_tag.apply(tag)
        os.setresuid(os.getuid() if is_ours else STRANGER, STRANGER, STRANGER)

    environment = {MARK: f"{INSTANCE}:{KEY}"} if trait == "mark" else {}
    child = subprocess.Popen(["/bin/sleep", "600"], env=environment, preexec_fn=change)  # noqa: PLW1509 - one thread
    try:
        assert set(is_found(child.pid, tag).values()) == {is_ours}, is_found(child.pid, tag)
    finally:
        child.kill()
        child.wait()


def test_processes_without_a_tag_have_none() -> None:
    with process(None, "sleep", "600") as pid:
        assert limit_tag.read_tag(pid) is None
    assert limit_tag.read_tag(pid) is None, "nor has one that is gone"


def test_jobs_within_jobs_have_their_own_tags_until_they_are_nested_too_deeply() -> None:
    assert subprocess.run([sys.executable, "-c", NEST, INSTANCE], check=False).returncode == 0


def test_a_real_limit_stays() -> None:
    script = f"""
import resource
from tarmac.agent.procs import limit_tag
from tarmac.agent.records.attempt_key import AttemptKey
resource.setrlimit(resource.RLIMIT_RTTIME, (200_000, 200_000))
assert limit_tag.tag_for({INSTANCE!r}, AttemptKey(5, 2)) is None
limit_tag.apply(None)
assert limit_tag.own_limit() == 200_000
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("key", [AttemptKey(1 << 28, 1), AttemptKey(1, 1 << 10)], ids=str)
def test_numbers_that_do_not_fit_have_no_tag(key: AttemptKey) -> None:
    assert limit_tag.tag_for(INSTANCE, key) is None


def test_a_real_time_process_is_not_limited() -> None:
    """The tag is a limit of tens of thousands of years."""
    tag = limit_tag.tag_for(INSTANCE, AttemptKey(0, 0))
    assert tag is not None
    assert tag / 1e6 / 86400 / 365 > 10_000
    with process(tag, "sleep", "600") as pid:
        assert resource.prlimit(pid, resource.RLIMIT_RTTIME) == (tag, tag)
        assert os.sched_getscheduler(pid) == os.SCHED_OTHER
