"""What a start frame asks for, checked once, so that nothing behind it has to doubt it."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Optional

from tarmac.agent.protocol import Message


class Spec(NamedTuple):
    job: int
    attempt: int
    argv: List[str]
    cwd: str
    umask: int
    env: Dict[str, str]
    stdout: str
    stderr: Optional[str]  # None: merged into stdout
    append: bool
    folder: Optional[str]  # made before the log files are opened


def read(frame: Message) -> Spec:
    """ValueError says what is wrong with the frame."""
    argv = _argv(frame)
    env = frame.get("env")
    if not isinstance(env, dict) or not all(isinstance(v, str) for v in env.values()):
        raise ValueError("env must be an object of strings")
    for key in ("cwd", "stdout"):
        if not isinstance(frame.get(key), str) or not os.path.isabs(frame[key]):
            raise ValueError(f"{key} must be an absolute path")
    umask = frame.get("umask")
    return Spec(
        job=frame["job"],
        attempt=frame["attempt"],
        argv=argv,
        cwd=frame["cwd"],
        umask=umask if isinstance(umask, int) else 0o022,
        env=env,
        stdout=frame["stdout"],
        stderr=frame.get("stderr"),
        append=bool(frame.get("append")),
        folder=frame.get("folder"),
    )


def _argv(frame: Message) -> List[str]:
    shell = frame.get("shell")
    if isinstance(shell, str):
        return [_shell(), "-c", shell]
    argv = frame.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv) or not argv[0]:
        raise ValueError("the command is empty")
    return argv


def _shell() -> str:
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
