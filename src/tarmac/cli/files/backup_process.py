"""Runs `python -m tarmac.controller.backup`, which reads and replaces the files of a stopped or running controller."""

from __future__ import annotations

import errno
import os
import sys

from tarmac.errors import NotAllowed, TarmacError, Unavailable, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TERMINATE_S = 3.0
OUTCOMES = {
    "create": "nothing was saved",
    "examine": "nothing was changed",
    "restore": "the queue is the old one or the restored one; run the command again to restore it",
}


class Interrupted(TarmacError):
    exit_code = 130


def run_backup(action: str, file: str, state: str, *options: str) -> dict[str, Any]:
    """What it reports. Raises what went wrong: an OSError if the disk of the new file is full."""
    import json

    command = [sys.executable, "-m", "tarmac.controller.backup", action, file, "--state", state, *options]
    output, code = _run(command, action)
    try:
        report: dict[str, Any] = json.loads(output)
    except ValueError:
        raise Unavailable(f"{action} ended with {code}", "nothing was changed; try again") from None
    if report.get("is_full") and action == "create":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "error" in report:
        raise _error(code, report["error"], report["hint"])
    return report


def _run(command: list[str], action: str) -> tuple[bytes, int]:
    """What it prints, and its exit code. Ctrl-C ends it, and it clears away what it has begun."""
    import signal
    import subprocess

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the process inherits it: Ctrl-C is for us
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        output, _ = process.communicate()
    except KeyboardInterrupt:
        process.terminate()
        try:
            process.wait(TERMINATE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise Interrupted("interrupted", OUTCOMES[action]) from None
    finally:
        signal.signal(signal.SIGINT, before)
    return output, process.returncode


def _error(code: int, message: str, hint: str | None) -> TarmacError:
    kinds = {kind.exit_code: kind for kind in (UserError, NotAllowed, Unavailable)}
    return kinds.get(code, Unavailable)(message, hint)
