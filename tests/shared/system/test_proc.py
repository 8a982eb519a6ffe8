"""Processes by /proc."""

import subprocess
import sys

OPEN_AT_THE_LIMIT = """
import os, resource
from tarmac.shared.system import proc
me = proc.read_stat(os.getpid())
spare = os.open("/", os.O_RDONLY)
os.close(spare)
resource.setrlimit(resource.RLIMIT_NOFILE, (spare + 1, spare + 1))  # room for the pidfd, and for nothing else
for _ in range(3):
    try:
        proc.open_same(me.pid, me.start_time)
    except OSError as error:
        print(error.errno)
"""


def test_a_shortage_of_descriptors_does_not_cost_one_more() -> None:
    done = subprocess.run([sys.executable, "-c", OPEN_AT_THE_LIMIT], capture_output=True, text=True)
    assert done.stdout.split() == ["24"] * 3, done.stderr  # EMFILE, each time after the pidfd was opened
