"""Starts the controller when none is running, and waits until it is ready.

Two first commands may both come here: the controller's lock decides, and both get "ready".
"""

from __future__ import annotations

import os
import sys

from tarmac import paths
from tarmac.client.transport import SILENCE_S
from tarmac.errors import TarmacError, Unavailable, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

READY_WITHIN_S = 120
# Forked once more, so that the controller is not a child of the command, and with the signals as a daemon expects them.
DETACH = """
import os, sys, _signal
for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM):
    _signal.signal(number, _signal.SIG_DFL)
if os.fork():
    os._exit(0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class EndedEarly(Unavailable):
    """The controller ended before it was ready. `has_words`: its log says something; otherwise it was killed."""

    has_words = False


def start_controller(state: str, home: str | None, on_silence: Callable[[int, float], None] | None = None) -> None:
    """Return once a controller listens. Raises an error with the reason otherwise.

    `on_silence` is called with a pid of 0 and the seconds while it takes long.
    """
    if os.environ.get("TARMAC_STATE") == state:
        # The controller would be part of this job's process tree, and end with the job.
        raise Unavailable(
            f"no controller is running, and job {os.environ.get('TARMAC_JOB_ID')} may not start one",
            "run any tarmac command in your own shell",
        )
    try:
        paths.make_private(state)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        log = os.open(paths.controller_log(state), flags, 0o600)
    except OSError as error:
        raise Unavailable(
            f"the state directory {state} cannot be used: {error.strerror}",
            "set TARMAC_HOME to a directory on a local disk that you can write to",
        ) from None
    log_size = os.fstat(log).st_size
    reader, writer = os.pipe()
    try:
        _spawn(state, home, log, writer)
    finally:
        os.close(writer)
        os.close(log)
    try:
        answer = _answer(reader, on_silence)
    finally:
        os.close(reader)
    if not answer.startswith("ready"):
        raise _failure(answer, state, log_size)


def _spawn(state: str, home: str | None, log: int, writer: int) -> None:
    import subprocess

    from tarmac.shared.own.environment import own_environment

    environment = own_environment(os.environ)
    if home is not None:
        environment["TARMAC_HOME"] = home
    controller = [sys.executable, "-m", "tarmac.controller", "--state", state, "--ready-fd", str(writer)]
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", DETACH, *controller],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        cwd="/",
        env=environment,
        pass_fds=[writer],
        start_new_session=True,
        check=True,
    )


def _answer(reader: int, on_silence: Callable[[int, float], None] | None) -> str:
    """`ready`, or an error with its hint, or an empty text if the controller ended without a message."""
    import select

    poll = select.poll()
    poll.register(reader, select.POLLIN)
    said, silent_s = b"", 0.0
    while not said.startswith(b"ready\n"):
        if not poll.poll(SILENCE_S * 1000):
            silent_s += SILENCE_S
            if on_silence is not None:
                on_silence(0, silent_s)
            if silent_s < READY_WITHIN_S:
                continue
            return f"error: it was not ready within {READY_WITHIN_S} s"
        data = os.read(reader, 65536)
        if not data:
            break
        said += data
    return said.decode("utf-8", "replace").strip()


def _failure(answer: str, state: str, log_size: int) -> TarmacError:
    first, _, rest = answer.partition("\n")
    message = first.removeprefix("error:").strip()
    if first.startswith("error: config"):
        return UserError(message, rest or f"edit {paths.config_path()} and try again")
    if message:
        return Unavailable(f"the controller does not start: {message}", rest or "see `tarmac log controller`")
    last = _last_line(paths.controller_log(state), log_size)
    error = EndedEarly(
        f"the controller ended before it was ready{': ' if last else ''}{last}", "see `tarmac log controller`"
    )
    error.has_words = bool(last)
    return error


def _last_line(path: str, start: int) -> str:
    """The last line that was written after `start`. A log that is shorter was rotated meanwhile."""
    size = os.path.getsize(path)
    with open(path, "rb") as log:
        log.seek(max(start if start <= size else 0, size - 4096))
        return b"\n".join(log.read().strip().splitlines()[-1:]).decode("utf-8", "replace")
