"""Verbs about files and processes of the controller's machine. With `-H`, `ssh` runs them there.

The words of the command line go as hexadecimal digits, which mean nothing to any shell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tarmac.cli.remote.option import without_host
from tarmac.cli.term import signals
from tarmac.client.remote import failure
from tarmac.client.remote.address import read_address
from tarmac.client.remote.command import MARK, MISSING, remote_command, ssh
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.remote.address import Address

SSH_FAILED = 255
INTERRUPTED = 130
PIECE = 1 << 16


def run_there(host: str, verb: str, argv: Sequence[str]) -> int:
    """Run the verb on the host. Its exit code, or 5 if ssh fails."""
    address = read_address(host)
    if verb == "serve":
        raise UserError("serve: a controller runs on its own machine", f"run `ssh {address.name} tarmac serve`")
    words = [verb, *without_host(argv)]
    mark = os.urandom(16).hex()
    has_terminal = os.isatty(0) and os.isatty(1)
    line = ["dial-stdio", "--run", json.dumps(words).encode().hex()]
    if not has_terminal:
        line += ["--channels", MARK]
    command = remote_command(mark, line)
    batch = not (os.isatty(0) or os.isatty(2))
    argv = ssh(address, command, batch=batch, more=("-t", "-o", "LogLevel=ERROR") if has_terminal else ("-T",))
    interrupted: list[int] = []
    signals.on(signals.SIGINT, interrupted.append)  # ssh gets it, too
    if has_terminal:
        code = subprocess.run(argv, check=False).returncode
    else:
        code = _copy_after_mark(argv, mark.encode(), address)
    if interrupted:
        return INTERRUPTED
    if code == SSH_FAILED:
        raise failure.login_failed(address, "", is_shown=True)
    return code if code >= 0 else 128 - code


def run_here(line: str, mark: str | None) -> int:
    """The other end: run a command line that arrived."""
    from tarmac.cli.main import run_line

    try:
        words = json.loads(bytes.fromhex(line))
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UserError("dial-stdio: --run is not a command line", "it is for `tarmac -H`")
    if mark is not None:
        sys.stdout.flush()
        os.write(1, f"\n{mark} \n".encode())
    os.environ.pop("TARMAC_HOST", None)
    return run_line(words)


def _copy_after_mark(argv: Sequence[str], mark: bytes, address: Address) -> int:
    """Print what comes after the line with the mark. What login files print before it is left out."""
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert process.stdout is not None
    printed, out = b"", process.stdout.fileno()
    while (found := printed.find(mark + b" ")) < 0 or printed.find(b"\n", found) < 0:
        data = os.read(out, PIECE)
        if not data:
            code = process.wait()
            if code in {SSH_FAILED, INTERRUPTED} or code < 0:
                return code
            raise failure.no_answer(address, printed, "", is_late=False)
        printed += data
    word, _, rest = printed[found + len(mark) + 1 :].partition(b"\n")
    if word.strip() == MISSING.encode():
        process.wait()
        raise failure.no_tarmac(address)
    _print(rest)
    while data := os.read(out, PIECE):
        _print(data)
    return process.wait()


def _print(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
