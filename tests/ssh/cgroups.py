"""One cgroup for each test host, so that the cgroups of its jobs are removed with it."""

import os
from pathlib import Path

from tests.home import until


def _mount() -> Path | None:
    """Where cgroups of version 2 can be created; None if they cannot."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        if right.startswith("cgroup2 ") and os.access(left.split(" ")[4], os.W_OK):
            return Path(left.split(" ")[4])
    return None


def create(name: str) -> Path | None:
    mount = _mount()
    if mount is None:
        return None
    (mount / name).mkdir(exist_ok=True)
    return mount / name


def remove(name: str) -> None:
    """Remove all whose name begins so. Their processes have been killed."""
    mount = _mount()
    for path in mount.glob(f"{name}*") if mount is not None else ():
        assert until(lambda path=path: _is_removed(path), 30), f"{path} is still in use"


def entering(cgroup: Path | None, command: list[str]) -> list[str]:
    """The command, run in the cgroup."""
    if cgroup is None:
        return command
    return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', str(cgroup / "cgroup.procs"), *command]


def _is_removed(path: Path) -> bool:
    try:
        for folder, _, _ in os.walk(path, topdown=False):
            os.rmdir(folder)
    except OSError:
        return False
    return True
