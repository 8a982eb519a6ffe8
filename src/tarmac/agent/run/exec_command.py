"""The command's own process between fork and exec: session, folder, files, signals. Says why when it cannot exec."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
from typing import TYPE_CHECKING, Dict, List, NoReturn, Optional, cast

from tarmac.agent.procs.proc_scan import MARK
from tarmac.agent.run.start_request import Spec, read
from tarmac.shared import crashpoint
from tarmac.shared.protocol import decode, encode, read_frame

if TYPE_CHECKING:
    from tarmac.shared.frames import AnyFrame, AssignFrame

# What Python ignores. All others the agent sets to default at its start.
_IGNORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
_own_file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)


_REHEARSAL = encode(
    {
        "type": "start",
        "job": 0,
        "attempt": 0,
        "argv": ["x"] * 4,
        "cwd": "/",
        "umask": 0,
        "env": {f"NAME_{number}": "x" * 50 for number in range(60)},
        "stdout": "/",
    }
)
READY = "\0"  # what it tells when there is nothing left to do but to execute


class CannotRun(Exception):
    """The message is what the owner of the job reads."""


def become(instance: str, shim_fd: int, failure_fd: int) -> NoReturn:
    """Waits for its job, prepares, waits for the byte that says the start is on record, executes. Never returns."""
    try:
        os.setsid()
        _undo_agent()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # Once for nothing: memory shared with the shim is copied on first use, and now there is time for it.
        read(decode(_REHEARSAL))
        order = read_frame(shim_fd)
        start = order and read_frame(shim_fd)
        if start:
            _run(cast("AssignFrame", decode(order)), decode(start), instance, shim_fd, failure_fd)
    except CannotRun as failure:
        _tell(failure_fd, str(failure))
    except Exception as error:  # noqa: BLE001  the outermost frame of a process
        _tell(failure_fd, f"cannot be started: {error}")
    finally:
        os._exit(127)


def _run(order: AssignFrame, start: AnyFrame, instance: str, shim_fd: int, failure_fd: int) -> None:
    spec = read(start)
    os.umask(spec.umask)
    _enter(spec.cwd)
    _open_files(spec)
    env = spec.env
    env["MASTER_PORT"] = str(order["port"])
    env[MARK] = f"{instance}:{spec.job}.{spec.attempt}"
    _tell(failure_fd, READY)
    # No byte but the end of the pipe: the shim died before the start was on record, so nothing may run.
    if os.read(shim_fd, 1):
        _execute(spec.argv, env)


def _tell(failure_fd: int, message: str) -> None:
    os.write(failure_fd, message.encode("utf-8", "replace")[:4000])


def raise_file_limit() -> None:
    """For the agent, which holds several descriptors per job. The commands get the limit it was started with."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (_own_file_limit[1], _own_file_limit[1]))


def _undo_agent() -> None:
    for signum in _IGNORED_SIGNALS:
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    resource.setrlimit(resource.RLIMIT_NOFILE, _own_file_limit)


def _enter(cwd: str) -> None:
    try:
        os.chdir(cwd)
    except FileNotFoundError:
        raise CannotRun(f"{cwd}: the working folder does not exist") from None
    except OSError as error:
        raise CannotRun(f"{cwd}: cannot enter the working folder: {error.strerror}") from None


def _open_files(spec: Spec) -> None:
    if spec.folder is not None:
        _make_folder(spec.folder)
    out_fd = _open_log(spec.stdout, append=spec.append)
    err_fd = out_fd if spec.stderr is None else _open_log(spec.stderr, append=spec.append)
    os.dup2(out_fd, 1)
    os.dup2(err_fd, 2)


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        raise CannotRun(f"{folder}: cannot make the log folder: {error.strerror}") from None


def _open_log(path: str, *, append: bool) -> int:
    # Never truncates. Non-blocking for the open only: a FIFO nobody reads must not hang the start.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
    try:
        fd = os.open(path, flags, 0o666)
        found = os.fstat(fd)
    except OSError as error:
        raise CannotRun(_log_trouble(path, error)) from None
    if stat.S_ISREG(found.st_mode) and found.st_size and not append:
        raise CannotRun(f"{path}: the log exists already and is not overwritten; append to it or name another file")
    os.set_blocking(fd, True)
    return fd


def _log_trouble(path: str, error: OSError) -> str:
    folder = os.path.dirname(path)
    if error.errno == errno.ENOENT:
        return f"{path}: cannot write the log: the folder {folder} does not exist"
    return f"{path}: cannot write the log: {error.strerror}"


def _execute(argv: List[str], env: Dict[str, str]) -> NoReturn:
    name = argv[0]
    crashpoint.reach("shim:before-exec")
    if "/" in name:
        _exec_file(name, argv, env)
    path = env.get("PATH", os.defpath)
    denied = False
    for folder in path.split(":"):
        file = os.path.join(folder or ".", name)
        try:
            os.execve(file, argv, env)
        except (FileNotFoundError, NotADirectoryError):
            if os.path.exists(file):
                raise CannotRun(_exec_trouble(file, errno.ENOENT)) from None
        except PermissionError:
            denied = denied or os.path.isfile(file)
        except OSError as error:
            raise CannotRun(_exec_trouble(file, error.errno)) from None
        except ValueError as error:  # a null byte among the words
            raise CannotRun(f"{name}: cannot be started: {error}") from None
    if denied:
        raise CannotRun(_exec_trouble(name, errno.EACCES))
    raise CannotRun(f"{name}: command not found (PATH searched: {path})")


def _exec_file(file: str, argv: List[str], env: Dict[str, str]) -> NoReturn:
    try:
        os.execve(file, argv, env)
    except ValueError as error:  # a null byte among the words
        raise CannotRun(f"{file}: cannot be started: {error}") from None
    except OSError as error:
        raise CannotRun(_exec_trouble(file, error.errno)) from None


def _exec_trouble(file: str, number: Optional[int]) -> str:
    if number == errno.EACCES:
        return f"{file}: is a folder" if os.path.isdir(file) else f"{file}: not executable"
    if number in (errno.ENOENT, errno.ENOTDIR):
        return (
            f"{file}: its interpreter is missing (see its #! line)" if os.path.exists(file) else f"{file}: no such file"
        )
    if number == errno.ENOEXEC:
        return f"{file}: not a program (a script needs a #! line)"
    if number == errno.E2BIG:
        return f"{file}: the arguments and the environment are too long for the kernel"
    return f"{file}: cannot be executed: {os.strerror(number or 0)}"
