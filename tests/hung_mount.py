"""A file system that never answers: a FUSE mount whose server reads requests and does nothing.

Processes that touch it wait in the kernel. If the server has read their request, not even SIGKILL ends them, as with a
dead NFS server or disk (`is_killable=False`). Otherwise it does.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MNT_DETACH = 2
INIT = 26
HEADER = struct.Struct("IIQ")  # length, opcode, unique
INIT_ANSWER = struct.Struct("IiQ4I2H2I36x")


def is_possible() -> bool:
    return os.getuid() == 0 and os.access("/dev/fuse", os.W_OK)


@contextmanager
def hung(path: Path, *, is_killable: bool = False) -> Iterator[None]:
    """Mount it on a directory, which may have content. Afterwards everything that waits gets an error."""
    words = [sys.executable, __file__, str(path), *(["killable"] if is_killable else [])]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"mounted\n"
    try:
        yield
    finally:
        server.kill()
        server.communicate()
        assert _libc.umount2(os.fsencode(path), MNT_DETACH) == 0


_libc = ctypes.CDLL(None, use_errno=True)


def _serve(path: str, *, is_killable: bool) -> None:
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other".encode()
    if _libc.mount(b"hung", os.fsencode(path), b"fuse.hung", 0, options):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _answer_init(device)
    sys.stdout.write("mounted\n")
    sys.stdout.flush()
    while True:
        # The end of stdin: the test was killed.
        ready, _, _ = select.select([sys.stdin] if is_killable else [sys.stdin, device], [], [])
        if sys.stdin in ready:
            return
        os.read(device, 1 << 17)


def _answer_init(device: int) -> None:
    request = os.read(device, 1 << 17)
    _, opcode, unique = HEADER.unpack_from(request)
    assert opcode == INIT
    os.write(device, INIT_ANSWER.pack(INIT_ANSWER.size, 0, unique, 7, 31, 0, 0, 12, 10, 4096, 1))


if __name__ == "__main__":
    _serve(sys.argv[1], is_killable=sys.argv[2:] == ["killable"])
