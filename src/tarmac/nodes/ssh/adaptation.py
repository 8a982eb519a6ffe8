"""Frames for another machine: files in the controller's state directory are in the agent's there, and jobs get the
variables of the account that they run as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tarmac.nodes.ssh.joined import Joined
    from tarmac.shared.frames.to_agent import ControllerFrame

PATHS = ("path", "stdout", "stderr", "objects", "checkout", "directory", "json")  # fields that hold one path
PATH_LISTS = ("outputs", "paths", "reserved", "remove")
NESTED = ("snapshot", "files", "prune")  # fields that hold records with such fields
# Of the submitter's session: they mean nothing on another machine.
SESSION = frozenset(
    (
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "MAIL", "OLDPWD", "SSH_AGENT_PID", "SSH_AUTH_SOCK", "SSH_CLIENT",
        "SSH_CONNECTION", "SSH_TTY", "TARMAC_HOME", "TARMAC_STATE", "TMUX", "WAYLAND_DISPLAY",
        "WINDOWID", "XAUTHORITY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
        "XDG_SESSION_ID", "XDG_STATE_HOME",
    )
)  # fmt: skip


def adapted(frame: ControllerFrame, state: str, joined: Joined) -> ControllerFrame:
    """`state` is the controller's state directory."""
    changed = _with_paths(frame, state, joined.state)
    if frame["type"] == "start":
        changed["env"] = node_environment(frame["env"], joined)
    return cast("ControllerFrame", changed)


def node_environment(submitted: Mapping[str, str], joined: Joined) -> dict[str, str]:
    account = joined.account
    kept = {name: value for name, value in submitted.items() if name not in SESSION}
    return kept | {"HOME": account.home, "USER": account.user, "LOGNAME": account.user, "SHELL": account.shell}


def moved(path: str, ours: str, theirs: str) -> str:
    """A path in our state directory, as a path in theirs."""
    return theirs + path[len(ours) :] if path.startswith(ours + "/") else path


def _with_paths(record: Any, ours: str, theirs: str) -> dict[str, Any]:
    changed = dict(record)
    for name in PATHS:
        if isinstance(path := changed.get(name), str):
            changed[name] = moved(path, ours, theirs)
    for name in PATH_LISTS:
        if name in changed:
            changed[name] = [moved(path, ours, theirs) for path in changed[name]]
    for name in NESTED:
        inner = changed.get(name)
        if isinstance(inner, dict):
            changed[name] = _with_paths(inner, ours, theirs)
        elif isinstance(inner, list):
            changed[name] = [_with_paths(one, ours, theirs) for one in inner]
    return changed
