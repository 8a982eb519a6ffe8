"""Runs first on a node, as `python3 -c` over SSH: receives the archive with the agent if the node lacks it.

Nothing of Tarmac is there yet, so this file imports the standard library only. Every line that it prints begins with
the marker of this connection, because login files may print anything before. Arguments: the marker, the name and the
size of the archive. The name is the SHA-256 of its content: the file is complete under that name, or not there.
"""

import hashlib
import json
import os
import sys
import time

_KEPT_S = 90 * 86400.0  # an agent may still load modules from an older archive


def receive(marker: str, name: str, size: int) -> str:
    """The path of the archive."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = os.path.join(cache if os.path.isabs(cache) else os.path.expanduser("~/.cache"), "tarmac", "agents")
    path = os.path.join(folder, name + ".zip")
    is_there = os.path.exists(path) and os.path.getsize(path) == size
    say(
        marker,
        step="python",
        version=".".join(map(str, sys.version_info[:3])),
        path=sys.executable,
        needs_archive=not is_there,
    )
    if not is_there:
        data = b""
        while len(data) < size:
            part = os.read(0, min(1 << 16, size - len(data)))
            if not part:
                raise SystemExit(1)
            data += part
        if hashlib.sha256(data).hexdigest() != name:
            raise OSError("the archive with the agent arrived damaged")
        os.makedirs(folder, 0o700, exist_ok=True)
        _store(path, data)
        _remove_old(folder)
    os.utime(path)
    return path


def _store(path: str, data: bytes) -> None:
    """Several links may store it at once, also from machines that share the home directory: a rename needs no lock."""
    fresh = f"{path}.{os.uname().nodename}.{os.getpid()}"
    try:
        with open(fresh, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(fresh, path)
    except OSError:
        try:
            os.unlink(fresh)
        except OSError:
            pass
        raise


def _remove_old(folder: str) -> None:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        try:
            if os.path.getmtime(path) < time.time() - _KEPT_S:
                os.unlink(path)
        except OSError:
            pass


def say(marker: str, **words: object) -> None:
    os.write(1, f"\n{marker} {json.dumps(words)}\n".encode("ascii"))


def main(marker: str, name: str, size: str) -> int:
    try:
        sys.path.insert(0, receive(marker, name, int(size)))
        from tarmac.agent.remote.serve import serve
    except OSError as error:
        say(marker, step="failed", error=os.strerror(error.errno) if error.errno else str(error), path=error.filename)
        return 1
    return serve(lambda **words: say(marker, **words), sys.path[0])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
