"""Reads and checks a start frame once, so that no later step has to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union, cast

from tarmac.shared.job_options import AT_START

if TYPE_CHECKING:
    from tarmac.shared.frames.base import Origin
    from tarmac.shared.frames.to_agent import AdoptFrame, SnapshotEntry, StartFrame, WarningEntry

_TERM = 15
_LAST_SIGNAL = 64
_GRACE_S = 10.0
_TYPES: Dict[str, Tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
_LONGEST_S = 1e10  # three centuries: more is a mistake, and might overflow a clock


class Limit(NamedTuple):
    """How long the command may run, how it is stopped then, and how it is warned before."""

    seconds: float
    signal: int
    grace_s: float
    warn_signal: int = 0  # 0: no warning
    warn_s: float = 0.0  # how long before the limit
    warn_main_only: bool = False


class StartRequest(NamedTuple):
    job: int
    attempt: int
    argv: List[str]
    cwd: str
    umask: int
    env: Dict[str, str]
    stdout: str
    stderr: Optional[str]  # None: merged into stdout
    append: bool
    limit: Optional[Limit]
    snapshot: Optional[SnapshotEntry]  # None: its code is what is in its directory
    options: Dict[str, Any]  # other job options that the agent applies, by wire name


def is_of_another_job(frame: Union[StartFrame, AdoptFrame], origin: Optional[Origin]) -> bool:
    """The controller has another database, in which another job has the id of the job with this origin."""
    theirs = frame.get("origin")
    return origin is not None and theirs is not None and origin["identity"] != theirs["identity"]


def read(frame: Mapping[str, Any]) -> StartRequest:
    """Raises ValueError that says what is wrong with the frame."""
    argv = _argv(frame)
    env = frame.get("env")
    if not isinstance(env, dict) or not all(isinstance(v, str) for v in env.values()):
        raise ValueError("env must be an object of strings")
    for key in ("cwd", "stdout"):
        if not isinstance(frame.get(key), str) or not os.path.isabs(frame[key]):
            raise ValueError(f"{key} must be an absolute path")
    umask = frame.get("umask")
    return StartRequest(
        job=frame["job"],
        attempt=frame["attempt"],
        argv=argv,
        cwd=frame["cwd"],
        umask=umask if isinstance(umask, int) else 0o022,
        env=env,
        stdout=frame["stdout"],
        stderr=frame.get("stderr"),
        append=bool(frame.get("append")),
        limit=_limit(frame),
        snapshot=_snapshot(frame.get("snapshot")),
        options=_options(frame.get("options", {})),
    )


def working_directory(entry: SnapshotEntry) -> str:
    """The working directory in the checkout of a snapshot. The checkout is named as the original directory."""
    name = os.path.basename(entry["root"].rstrip("/")) or "root"
    return os.path.normpath(os.path.join(entry["checkout"], name, entry["directory"]))


def read_signal(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= _LAST_SIGNAL:
        raise ValueError(f"signal {number!r} does not exist: it must be a number from 1 to {_LAST_SIGNAL}")
    return number


def _options(given: Any) -> Dict[str, Any]:
    """Those that this agent knows. A newer controller may send others."""
    if not isinstance(given, dict):
        raise ValueError("options must be an object")  # noqa: TRY004  all that is wrong with a frame is a ValueError
    for option in AT_START:
        if option.wire in given and not isinstance(given[option.wire], _TYPES[option.type]):
            raise ValueError(f"{option.wire} must be of type {option.type}")
    return {option.wire: given[option.wire] for option in AT_START if option.wire in given}


def _snapshot(entry: Any) -> Optional[SnapshotEntry]:
    if entry is None:
        return None
    texts = ("tree", "root", "directory", "objects", "checkout")
    if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in texts):
        raise ValueError(f"snapshot must be an object with {', '.join(texts)}")
    if not isinstance(entry.get("links"), list) or not all(isinstance(link, str) for link in entry["links"]):
        raise ValueError("the links of a snapshot must be a list of strings")
    return cast("SnapshotEntry", entry)


def _limit(frame: Mapping[str, Any]) -> Optional[Limit]:
    """None: no limit. An older controller sends none of the three fields."""
    signum = read_signal(frame.get("stop_signal", _TERM))
    grace_s = _seconds(frame, "grace_s", _GRACE_S)
    if frame.get("limit_s") is None:
        return None
    seconds = _seconds(frame, "limit_s", 0.0)
    if not seconds:
        raise ValueError("limit_s must be more than 0")
    warning = read_warning(frame.get("warn"))
    if warning is None:
        return Limit(seconds, signum, grace_s)
    return Limit(seconds, signum, grace_s, warning["signal"], warning["before_s"], warning["main_only"])


def read_warning(warning: Any) -> Optional[WarningEntry]:
    """None: no warning. An older controller sends none."""
    if warning is None:
        return None
    if not isinstance(warning, dict):
        raise ValueError("warn must be an object")  # noqa: TRY004  all that is wrong with a frame is a ValueError
    return {
        "signal": read_signal(warning.get("signal")),
        "before_s": _seconds(warning, "before_s", 0.0),
        "main_only": bool(warning.get("main_only")),
    }


def _seconds(frame: Mapping[str, Any], name: str, default: float) -> float:
    value = frame.get(name, default)
    # The comparison also refuses NaN, which Python's JSON decoder accepts.
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= _LONGEST_S:
        raise ValueError(f"{name} must be a number of seconds, 0 or more")
    return float(value)


def _argv(frame: Mapping[str, Any]) -> List[str]:
    shell = frame.get("shell")
    if isinstance(shell, str):
        return [shell_path(), "-c", shell]
    argv = frame.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(word, str) for word in argv) or not argv[0]:
        raise ValueError("the command is empty")
    return argv


def shell_path() -> str:
    return "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
