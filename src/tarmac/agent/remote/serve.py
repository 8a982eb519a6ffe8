"""Runs on a node after the archive arrived: starts the agent if none answers, and connects the link to its socket.

The controller first sends one line of JSON: its own id, the node's name, and variables for the agent. Each controller
has its own agent and state directory on a node, so two controllers on one node do not get in each other's way.
"""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
import sys
from typing import Callable, Dict, List, Tuple

from tarmac.agent.remote import logout
from tarmac.agent.remote.relay import relay
from tarmac.shared.own import strict_modes
from tarmac.shared.own.environment import own_environment
from tarmac.shared.system import sockets
from tarmac.shared.system.file_systems import network_file_system
from tarmac.shared.system.proc import read_boot_id

_LOCAL_ROOT = "/var/tmp"
_LONGEST_LINE = 1 << 20
_AGENT = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from tarmac.agent.main import main; sys.exit(main(sys.argv[1:]))"
)


def serve(say: Callable[..., None], archive: str) -> int:
    """Returns when the link or the agent ends."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    wanted = json.loads(_read_line())
    state = state_directory(wanted["controller"])
    try:
        sock, started = _connected(state, archive, wanted["environment"])
    except OSError as error:
        say(step="failed", error=os.strerror(error.errno) if error.errno else str(error), path=error.filename or state)
        return 1
    account = pwd.getpwuid(os.getuid())
    say(
        step="joined",
        state=state,
        started_pid=started,
        boot_id=read_boot_id(),
        account={"user": account.pw_name, "home": account.pw_dir, "shell": account.pw_shell},
        others=other_controllers(state),
        logout=logout.dangers(os.getuid(), account.pw_name),
    )
    relay(sock)
    return 0


def state_directory(controller: str) -> str:
    """On a local disk, because locks and sockets do not work on others, and nodes may share a home directory."""
    base = os.environ.get("XDG_STATE_HOME", "")
    state = os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.local/state"), "tarmac-nodes")
    if network_file_system(state) is not None and network_file_system(_LOCAL_ROOT) is None:
        state = os.path.join(_LOCAL_ROOT, f"tarmac-nodes-{os.getuid()}")
    return os.path.join(state, controller)


def other_controllers(state: str) -> List[str]:
    """The state directories of agents on this account that serve other controllers now."""
    above = os.path.dirname(state)
    found = []
    for name in sorted(os.listdir(above)):
        other = os.path.join(above, name)
        try:
            sockets.connect(os.path.join(other, "agent", "agent.sock")).close()
        except OSError:
            continue
        if other != state:
            found.append(name)
    return found


def _connected(state: str, archive: str, environment: Dict[str, str]) -> Tuple[socket.socket, int]:
    """A connection to the agent, and its pid if it was started for it, otherwise 0."""
    path = os.path.join(state, "agent", "agent.sock")
    try:
        sock = sockets.connect(path)
    except OSError:
        strict_modes.make_directories(os.path.join(state, "logs"))
        pid = _start(state, archive, environment)
        return _own(sockets.connect(path), path), pid
    return _own(sock, path), 0


def _own(sock: socket.socket, path: str) -> socket.socket:
    """Start frames contain the environments of jobs, and the state may be in a directory that everyone may write to."""
    uid = sockets.peer_uid(sock)
    if uid not in (os.getuid(), 0):
        sock.close()
        raise OSError(f"{path} is served by another user (uid {uid}), so nothing was sent")
    return sock


def _start(state: str, archive: str, environment: Dict[str, str]) -> int:
    """The agent detaches itself: it outlives the link, sshd and the log-out."""
    ready, theirs = os.pipe()
    try:
        agent = subprocess.Popen(
            [sys.executable, "-I", "-c", _AGENT, archive, "--state", state, "--ready-fd", str(theirs)],
            pass_fds=(theirs,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={**own_environment(os.environ), **environment},
            start_new_session=True,
        )
    finally:
        os.close(theirs)
    with os.fdopen(ready, "rb") as answer:
        line = answer.readline().decode("utf-8", "replace").strip()
    if line != "ready":
        raise OSError(line[len("error: ") :] if line.startswith("error: ") else "the agent ended before it was ready")
    return agent.pid


def _read_line() -> bytes:
    """Byte by byte: what follows belongs to the agent."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1)
        if not part or len(line) > _LONGEST_LINE:
            raise SystemExit(1)
        line += part
    return line
