"""A file helper whose agent goes away."""

from __future__ import annotations

import subprocess
import sys

LEAVE_ITS_ANSWER_UNREAD = """
import os, select, socket
from tarmac.agent.files.helper import _become_helper
from tarmac.agent.files.trail import Trail
from tarmac.shared.protocol import encode

ours, theirs = socket.socketpair()
helper = os.fork()
if helper == 0:
    ours.close()
    _become_helper(theirs.fileno(), None, Trail(), "/")
theirs.close()
ours.sendall(encode({"type": "read_log", "ref": 1, "path": "/dev/null", "offset": 0, "limit": 1, "avoid": []}))
select.select([ours], [], [])
ours.close()
print(os.waitpid(helper, 0)[1])
"""


def test_an_agent_that_leaves_an_answer_unread_is_not_an_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_ITS_ANSWER_UNREAD], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
