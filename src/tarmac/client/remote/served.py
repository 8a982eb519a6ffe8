"""The other end of `tarmac -H`: what `tarmac dial-stdio` does on the machine of the controller."""

from __future__ import annotations

import json
import os
import select

from tarmac import __version__
from tarmac.client.connection import Link
from tarmac.client.requests import current_umask, sendable
from tarmac.client.transport import NoController
from tarmac.errors import TarmacError
from tarmac.shared.channels import Channels
from tarmac.shared.names import API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.shared.channels import Opened

STDIN, STDOUT = 0, 1
PIECE = 1 << 16
# Of this login, which ends before the job does.
OF_THE_LOGIN = frozenset(("_", "SHLVL", "PWD", "OLDPWD", "TARMAC_HOST"))


def serve_channels(mark: str) -> None:
    """Say who this is, and connect every channel that is opened with the controller. Returns when stdin ends."""
    about = {
        "version": __version__,
        "api": API,
        "home": os.path.expanduser("~"),
        "umask": current_umask(),
        "environment": _environment(),
    }
    _write(f"\n{mark} {json.dumps(about)}\n".encode())
    Channels(STDIN, STDOUT, _accept).run()


def copy_stream() -> None:
    """Connect stdin and stdout with the controller. Returns when the controller, or the reader of stdout, has ended it.

    The end of stdin is not passed on: the controller would end the connection before it has answered.
    """
    fd = Link(host="").new_connection().detach()
    os.set_blocking(fd, True)
    waiting = select.poll()
    waiting.register(fd, select.POLLIN)
    waiting.register(STDIN, select.POLLIN)
    while True:
        ready = dict(waiting.poll())
        if STDOUT in ready:
            return
        if fd in ready:
            data = os.read(fd, PIECE)
            if not data:
                return
            _write(data)
        if STDIN in ready:
            data = os.read(STDIN, PIECE)
            if data:
                _write(data, fd)
            else:
                waiting.unregister(STDIN)
                waiting.register(STDOUT, 0)  # tells only that it has no reader


def _accept(content: bytes) -> Opened:
    try:
        connection = Link(host="", start=content == b"start").new_connection()
        return b"ok\n", connection.detach()
    except TarmacError as error:
        answer = {
            "is_absent": isinstance(error, NoController),
            "was_stopped": isinstance(error, NoController) and error.was_stopped,
            "code": error.code,
            "message": error.message,
            "hint": error.hint,
            "key": error.key,
        }
        return json.dumps(answer).encode() + b"\n", None


def _environment() -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if name not in OF_THE_LOGIN and not name.startswith("SSH_")
    }
    return dict(sendable(kept)[0])


def _write(data: bytes, fd: int = STDOUT) -> None:
    while data:
        data = data[os.write(fd, data) :]
