"""Unix sockets by path, even if the path is longer than sun_path allows."""

from __future__ import annotations

import os
import socket
import struct
from typing import Callable

_SUN_PATH_BYTES = 107


def connect(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with_short_path(path, sock.connect)
    except BaseException:
        sock.close()
        raise
    return sock


def listen(path: str) -> socket.socket:
    """Replace a stale socket file. The name appears only once the socket accepts connections."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    fresh = path + ".new"
    try:
        os.unlink(fresh)
    except FileNotFoundError:
        pass
    with_short_path(fresh, sock.bind)
    os.chmod(fresh, 0o600)
    sock.listen(16)
    os.rename(fresh, path)
    sock.setblocking(False)
    return sock


def peer_uid(sock: socket.socket) -> int:
    """The user at the other end, according to the kernel: for a server's socket, who listens there."""
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])


def with_short_path(path: str, call: Callable[[str], None]) -> None:
    """Bind or connect. If the path is too long, the descriptor of its directory stands for the directory."""
    if len(os.fsencode(path)) <= _SUN_PATH_BYTES:
        call(path)
        return
    folder, name = os.path.split(path)
    folder_fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        call(f"/proc/self/fd/{folder_fd}/{name}")
    finally:
        os.close(folder_fd)
