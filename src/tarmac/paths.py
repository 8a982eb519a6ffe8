"""The paths of the state directory, its socket and the config file.

SQLite and Unix sockets do not work on network file systems, where home directories often are. In that case the state is
on a local disk instead. The directory is private (0700); `strict_modes` checks that nobody else could have changed it.
"""

from __future__ import annotations

import os
import stat

from tarmac.errors import NotAllowed
from tarmac.shared.system.file_systems import network_file_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SUN_PATH_BYTES = 107  # the longest Unix socket address, without its closing zero
LOCAL_STATE_ROOT = "/var/tmp"
SSH_SOCKET_BYTES = 60  # of a name that ssh forms with %C, while it creates the socket


def wanted_state_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The state directory if every disk were local."""
    home = environ.get("TARMAC_HOME")
    if home:
        return os.path.abspath(home)
    return os.path.join(_xdg(environ, "XDG_STATE_HOME", ".local/state"), "tarmac")


def state_folder(environ: Mapping[str, str] = os.environ) -> str:
    """The state directory in use."""
    wanted = wanted_state_folder(environ)
    kind = network_file_system(wanted)
    if kind is None or network_file_system(LOCAL_STATE_ROOT) is not None:
        return wanted
    return _local_stand_in(wanted if environ.get("TARMAC_HOME") else None)


def moved_note(environ: Mapping[str, str] = os.environ) -> str | None:
    """The message for a state directory that is not where the user would expect it; None otherwise."""
    wanted, actual = wanted_state_folder(environ), state_folder(environ)
    if wanted == actual:
        return None
    kind = network_file_system(wanted)
    return f"{wanted} is on a network file system ({kind}), so Tarmac stores its state in {actual} on this machine"


def config_path(environ: Mapping[str, str] = os.environ) -> str:
    home = environ.get("TARMAC_HOME")
    if home:
        return os.path.join(os.path.abspath(home), "config.toml")
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "tarmac", "config.toml")


def socket_path(state: str) -> str:
    return os.path.join(state, "tarmac.sock")


def controller_log(state: str) -> str:
    return os.path.join(state, "controller.log")


def agent_log(state: str) -> str:
    return os.path.join(state, "agent", "agent.log")


def ssh_control_directory(state: str) -> str:
    """For the sockets of `tarmac node login`. Elsewhere if their addresses would be too long in the state directory."""
    directory = os.path.join(state, "ssh")
    if len(os.fsencode(directory)) + SSH_SOCKET_BYTES <= SUN_PATH_BYTES:
        return directory
    from binascii import crc32

    return os.path.join(LOCAL_STATE_ROOT, f"tarmac-ssh-{os.getuid()}-{crc32(os.fsencode(state)):08x}")


def make_private(state: str) -> None:
    """Create the state directory if it is missing. Refuse one that another user owns or could have changed."""
    from tarmac.shared.own import strict_modes

    if os.path.lexists(state):
        _check_own(state)
    else:
        strict_modes.make_directories(state)
    try:
        strict_modes.secure(strict_modes.problems_of_state(state))
    except strict_modes.Unsafe as error:
        raise NotAllowed(error.problem.text, error.problem.fix) from None


def _local_stand_in(home: str | None) -> str:
    """One directory per user and TARMAC_HOME: two homes must never share a queue."""
    folder = os.path.join(LOCAL_STATE_ROOT, f"tarmac-{os.getuid()}")
    if home is not None:
        from binascii import crc32

        folder += f"-{crc32(os.fsencode(home)):08x}"
    if os.path.lexists(folder):
        _check_own(folder)
    return folder


def _check_own(folder: str) -> None:
    info = os.lstat(folder) if folder.startswith(LOCAL_STATE_ROOT) else os.stat(folder)
    if not stat.S_ISDIR(info.st_mode):
        raise NotAllowed(f"{folder} is not a directory", "move it away, or set TARMAC_HOME to another directory")
    if info.st_uid != os.getuid():
        raise NotAllowed(
            f"{folder} belongs to another user (uid {info.st_uid})", "set TARMAC_HOME to a directory that you own"
        )


def _xdg(environ: Mapping[str, str], variable: str, fallback: str) -> str:
    folder = environ.get(variable, "")
    if os.path.isabs(folder):  # the XDG standard requires relative paths to be ignored
        return folder
    return os.path.join(os.path.expanduser("~"), fallback)
