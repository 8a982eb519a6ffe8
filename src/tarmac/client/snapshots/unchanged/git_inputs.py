"""The files that git reads before it looks at a work tree: index, head, configuration, and rules outside of it."""

from __future__ import annotations

import os

from tarmac.client.snapshots.files.git import GitCall

_IN_GIT_DIRECTORY = (b"HEAD", b"index", b"config.worktree")
_IN_COMMON_DIRECTORY = (b"config", b"packed-refs", b"info/exclude", b"info/attributes", b"reftable/tables.list")
_OF_MACHINE = (b"/etc/gitconfig", b"/etc/gitattributes")
_NAMED_BY = (b"core.excludesfile", b"core.attributesfile")


def git_inputs(root: bytes) -> list[bytes]:
    """Absolute paths. Those that do not exist count as well: they may be created."""
    config = GitCall(root, ["config", "--list", "--show-origin", "--includes", "-z"])
    git = git_directory(root)
    common = os.path.normpath(os.path.join(git, _read(os.path.join(git, b"commondir")) or b"."))
    found = {os.path.join(root, b".git")} if os.path.isfile(os.path.join(root, b".git")) else set()
    found |= {os.path.join(git, name) for name in _IN_GIT_DIRECTORY}
    found |= {os.path.join(common, name) for name in _IN_COMMON_DIRECTORY}
    head = _read(os.path.join(git, b"HEAD"))
    if head.startswith(b"ref: "):
        found.add(os.path.join(common, head[len(b"ref: ") :]))
    found |= {*_OF_MACHINE, *_of_user(), *_of_environment(root), *_named(root, config.output())}
    return sorted(found)


def git_directory(root: bytes) -> bytes:
    path = os.path.join(root, b".git")
    if os.path.isdir(path):
        return path
    return os.path.normpath(os.path.join(root, _read(path).removeprefix(b"gitdir: ")))


def _of_user() -> list[bytes]:
    home = os.path.expanduser(b"~")
    settings = os.path.join(os.environb.get(b"XDG_CONFIG_HOME") or os.path.join(home, b".config"), b"git")
    names = [os.path.join(settings, name) for name in (b"config", b"ignore", b"attributes")]
    return [os.path.join(home, b".gitconfig"), *names]


def _of_environment(root: bytes) -> list[bytes]:
    """An empty file counts, too. git names the others only."""
    paths = (os.environb.get(name) for name in (b"GIT_CONFIG_GLOBAL", b"GIT_CONFIG_SYSTEM"))
    return [os.path.join(root, path) for path in paths if path]


def _named(root: bytes, config: bytes) -> set[bytes]:
    """The files of the configuration, and those that it names: with rules, and with more of the configuration."""
    parts = config.split(b"\0")[:-1]
    found = set()
    for origin, setting in zip(parts[::2], parts[1::2], strict=True):
        file = root
        if origin.startswith(b"file:"):
            file = os.path.join(root, origin.removeprefix(b"file:"))
            found.add(file)
        name, _, value = setting.partition(b"\n")
        if value and name in _NAMED_BY:
            found.add(os.path.join(root, os.path.expanduser(value)))
        elif value and _is_include(name):
            found.add(os.path.join(os.path.dirname(file), os.path.expanduser(value)))
    return found


def _is_include(name: bytes) -> bool:
    return name == b"include.path" or (name.startswith(b"includeif.") and name.endswith(b".path"))


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read().strip()
    except OSError:
        return b""
