"""Finds files and directories of Tarmac that another user could have changed, as the StrictModes of sshd do.

Every directory above must belong to this user or to root, and only they may write to it. A sticky directory such as
/tmp is allowed, because the owner of each entry is checked. Links on the way are followed, and checked as well.

Where each user has a private group, directories are often open to it. Only the user is in it, so it does not count.

A mode that is too open is silently corrected if no other user could get there: some directory above denies them
access. Otherwise it may be too late, and a person has to look.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import Iterator, List, NamedTuple, Optional, Tuple

_ROOT = 0
_OTHERS_WRITE = 0o022
_OTHERS_ENTER = 0o011
_OTHERS = 0o077
_MOST_LINKS = 40
_FILES = (
    "tarmac.db", "tarmac.db-wal", "tarmac.db-shm", "controller.lock", "controller.log", "tarmac.sock", "outbox.lock",
    "outbox.sent", "history.db", "history.db-wal", "history.db-shm",
)  # fmt: skip
_AGENT_FILES = ("agent.lock", "agent.log", "agent.sock", "node", "cards.json", "past")
_ELSEWHERE = "set TARMAC_HOME to a directory that you own"


class Problem(NamedTuple):
    path: str
    text: str
    fix: str
    safe_mode: Optional[int] = None  # puts it right, because no other user could have written; None: a person must look
    must_be_empty: bool = False  # … which holds only for an empty directory


class Unsafe(PermissionError):
    """Another user could have changed the state."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.text}; {problem.fix}")
        self.problem = problem


def make_directories(path: str) -> None:
    """Create the directory, and those above it that are missing, for this user alone, whatever the umask is."""
    parent = os.path.dirname(path)
    if parent != path and not os.path.isdir(parent):
        make_directories(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass


def secure(problems: List[Problem]) -> None:
    """Put the modes right. Raises Unsafe, without a change, if that would not be enough."""
    for problem in problems:
        if problem.safe_mode is None:
            raise Unsafe(problem)
    for problem in problems:
        if problem.safe_mode is not None:
            before = os.stat(problem.path).st_mode
            os.chmod(problem.path, problem.safe_mode)
            if problem.must_be_empty and os.listdir(problem.path):
                os.chmod(problem.path, stat.S_IMODE(before))  # filled at this very moment
                raise Unsafe(problem)


def problems_of_state(state: str) -> List[Problem]:
    """What is wrong with an existing state directory and with Tarmac's files in it."""
    found, is_closed = _problems_of_top(state)
    found += _problems_of_files(state, _FILES, is_closed=is_closed)
    found += _problems_of_directory(os.path.join(state, "logs"), is_closed=is_closed, may_be_link=True)
    found += _problems_of_directory(os.path.join(state, "secrets"), is_closed=is_closed)
    return found + _problems_of_agent(state, is_closed=is_closed)


def problems_of_agent(state: str) -> List[Problem]:
    """The same for the part that an agent uses."""
    found, is_closed = _problems_of_top(state)
    return found + _problems_of_agent(state, is_closed=is_closed)


def problems_of_config(path: str) -> List[Problem]:
    """What is wrong with an existing config file: its commands are executed."""
    if not os.path.exists(path):
        return []
    problem, is_closed = _look_above(path)
    if problem is not None:
        return [problem]
    info = os.stat(path)
    if info.st_uid not in (os.getuid(), _ROOT):
        return [_foreign(path, info, "move it away")]
    if info.st_mode & _OTHERS_WRITE:
        can_change = info.st_uid == os.getuid() and (is_closed or not _is_open(info))
        return [_writable(path, info, stat.S_IMODE(info.st_mode) & ~_OTHERS_WRITE if can_change else None)]
    return []


def is_open_to_others(info: os.stat_result) -> bool:
    """Can users other than the owner and root write to the file?"""
    return bool(info.st_mode & _OTHERS_WRITE) and _is_open(info)


def can_others_read(path: str) -> bool:
    """True if other users can read this file: by its mode, and by those of the directories above it."""
    problem, is_closed = _look_above(path)
    info = os.stat(path)
    return (problem is not None or not is_closed) and bool(info.st_mode & (stat.S_IRGRP | stat.S_IROTH))


def _problems_of_top(state: str) -> Tuple[List[Problem], bool]:
    """Those of the state directory and of all above it; and whether other users cannot get into it."""
    problem, is_closed = _look_above(state)
    if problem is not None:
        return [problem], is_closed
    info = os.stat(state)
    mode = stat.S_IMODE(info.st_mode)
    if not stat.S_ISDIR(info.st_mode):
        return [Problem(state, f"{state} is not a directory", f"move it away, or {_ELSEWHERE}")], is_closed
    if info.st_uid != os.getuid():
        return [_foreign(state, info, _ELSEWHERE)], is_closed
    found: List[Problem] = []
    if mode & _OTHERS_WRITE:
        # An empty directory holds nothing that another user could have put there.
        is_safe = is_closed or not _is_open(info)
        is_empty = not is_safe and not os.listdir(state)
        safe_mode = 0o700 if is_empty else mode & ~_OTHERS_WRITE if is_safe else None
        found = [_writable(state, info, safe_mode, must_be_empty=is_empty)]
    return found, is_closed or not mode & _OTHERS_ENTER


def _problems_of_agent(state: str, *, is_closed: bool) -> List[Problem]:
    folder = os.path.join(state, "agent")
    found = _problems_of_directory(folder, is_closed=is_closed)
    if not os.path.isdir(folder):
        return found
    is_closed = is_closed or not os.stat(folder).st_mode & _OTHERS_ENTER
    found += _problems_of_files(folder, _AGENT_FILES, is_closed=is_closed)
    for name in ("runs", "spare"):
        found += _problems_of_directory(os.path.join(folder, name), is_closed=is_closed)
    return found


def _problems_of_directory(path: str, *, is_closed: bool, may_be_link: bool = False) -> List[Problem]:
    """Those of a directory that Tarmac made."""
    info = _lstat(path)
    if info is None:
        return []
    if stat.S_ISLNK(info.st_mode) and may_be_link and info.st_uid == os.getuid():
        return []  # its owner wants it elsewhere
    if not stat.S_ISDIR(info.st_mode):
        return [Problem(path, f"{path} is not a directory", "move it away")]
    return _problems_of_mode(path, info, 0o700, is_closed=is_closed)


def _problems_of_files(folder: str, names: Tuple[str, ...], *, is_closed: bool) -> List[Problem]:
    found: List[Problem] = []
    for name in names:
        path = os.path.join(folder, name)
        info = _lstat(path)
        if info is None:
            continue
        if stat.S_ISLNK(info.st_mode):
            found.append(
                Problem(path, f"{path} is a symbolic link", "remove it, or move the file itself to this place")
            )
        else:
            found += _problems_of_mode(path, info, 0o600, is_closed=is_closed)
    return found


def _problems_of_mode(path: str, info: os.stat_result, wanted: int, *, is_closed: bool) -> List[Problem]:
    if info.st_uid != os.getuid():
        return [_foreign(path, info, f"check who created it, then run `rm -r {path}`")]
    if info.st_mode & _OTHERS_WRITE:
        return [_writable(path, info, wanted if is_closed or not _is_open(info) else None)]
    if info.st_mode & _OTHERS:
        text = f"{path} can be read by other users (mode {_shown(info)})"
        return [Problem(path, text, f"run `chmod go= {path}`", wanted)]
    return []


def _look_above(path: str) -> Tuple[Optional[Problem], bool]:
    """The first problem of the directories above and of the links on the way; and whether one of them is closed to
    other users, so that they cannot get to the path."""
    for link in _links_on(path):
        info = os.lstat(link)
        if not _is_trusted(info.st_uid):
            return _foreign(link, info, _ELSEWHERE), False
        problem, _ = _look_at_chain(os.path.dirname(link))
        if problem is not None:
            return problem, False
    return _look_at_chain(os.path.dirname(os.path.realpath(path)))


def _look_at_chain(folder: str) -> Tuple[Optional[Problem], bool]:
    is_closed = False
    for above in _chain(folder):
        info = _lstat(above)
        if info is None:
            break  # not yet created
        if not _is_trusted(info.st_uid):
            return _foreign(above, info, _ELSEWHERE), is_closed
        if _is_open(info) and not info.st_mode & stat.S_ISVTX and not is_closed:
            return _writable(above, info, None), is_closed
        is_closed = is_closed or not info.st_mode & _OTHERS_ENTER
    return None, is_closed


def _links_on(path: str) -> Iterator[str]:
    """Each symbolic link that is followed on the way to the path."""
    here, left = "/", os.path.abspath(path).split("/")[::-1]
    for _ in range(_MOST_LINKS):
        link = None
        while left and link is None:
            part = left.pop()
            if part == "..":
                here = os.path.dirname(here)
            elif part not in ("", "."):
                here = os.path.join(here, part)
                link = here if os.path.islink(here) else None
        if link is None:
            return
        yield link
        target = os.readlink(link)
        here = "/" if os.path.isabs(target) else os.path.dirname(link)
        left += target.split("/")[::-1]


def _chain(folder: str) -> Iterator[str]:
    """The directory and all above it, from the top."""
    parent = os.path.dirname(folder)
    if parent != folder:
        yield from _chain(parent)
    yield folder


def _is_trusted(uid: int) -> bool:
    return uid in (os.getuid(), _ROOT) or _is_outside(uid)


def _is_open(info: os.stat_result) -> bool:
    """May other users write to it?"""
    if info.st_mode & stat.S_IWGRP and not _is_private_group(info):
        return True
    return bool(info.st_mode & stat.S_IWOTH)


def _is_private_group(info: os.stat_result) -> bool:
    """True if the group is that of its owner alone. root has none: its group may have grown over the years."""
    try:
        owner, group = pwd.getpwuid(info.st_uid), grp.getgrgid(info.st_gid)
    except KeyError:
        return False
    is_own = owner.pw_uid != _ROOT and owner.pw_gid == group.gr_gid and owner.pw_name == group.gr_name
    return is_own and set(group.gr_mem) <= {owner.pw_name}


def _is_outside(uid: int) -> bool:
    """True if it stands for users outside this user namespace, such as the root of the host of a container."""
    try:
        with open("/proc/sys/kernel/overflowuid") as file:
            if int(file.read()) != uid:
                return False
        with open("/proc/self/uid_map") as file:
            spans = [[int(word) for word in line.split()] for line in file]
    except (OSError, ValueError):
        return False
    return not any(inside <= uid < inside + count for inside, _, count in spans)


def _foreign(path: str, info: os.stat_result, fix: str) -> Problem:
    return Problem(path, f"{path} belongs to another user (uid {info.st_uid})", fix)


def _writable(path: str, info: os.stat_result, safe_mode: Optional[int], *, must_be_empty: bool = False) -> Problem:
    text = f"{path} can be changed by other users (mode {_shown(info)})"
    fix = f"check that nobody changed anything in it, then run `chmod go-w {path}`"
    if stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX:
        fix = _ELSEWHERE  # a directory that is meant for everyone
    elif info.st_uid != os.getuid():
        fix = f"ask its owner to run `chmod go-w {path}`, or {_ELSEWHERE}"
    return Problem(path, text, fix, safe_mode, must_be_empty)


def _shown(info: os.stat_result) -> str:
    return f"{stat.S_IMODE(info.st_mode):04o}"


def _lstat(path: str) -> Optional[os.stat_result]:
    try:
        return os.lstat(path)
    except OSError:
        return None
