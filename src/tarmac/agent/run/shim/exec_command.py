"""The command's process between fork and exec: session, directory, files, signals. It reports why it cannot exec.

The start request, with all job options, is at hand in `_run`: an option that the kernel applies to a process belongs
there.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
from typing import TYPE_CHECKING, Dict, List, NamedTuple, NoReturn, Optional, Tuple, cast

from tarmac.agent.procs import limit_tag
from tarmac.agent.procs.proc_scan import MARK
from tarmac.agent.records.attempt_key import AttemptKey
from tarmac.agent.run.start_request import StartRequest, read, shell_path
from tarmac.shared import crashpoint, fill
from tarmac.shared.own import file_limit, process_title
from tarmac.shared.own.files import OwnFiles
from tarmac.shared.protocol import decode, encode, read_frame

if TYPE_CHECKING:
    from tarmac.agent.frames import AssignFrame
    from tarmac.shared.frames.reports import Outside

# Python ignores these. The agent resets all others to their default at its start.
_IGNORED_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


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
# Sent when only the exec is left to do, followed by what `Opened` has, for the shim.
READY = "\0"
_NAMED = "\x1f"  # between what is missing, as a name and as a path, and the message


class Opened(NamedTuple):
    """What is known of the command's files once they are open."""

    stdout_begin: int  # the size of the file: earlier output may be in it
    stderr_begin: int
    cwd_inode: int

    @classmethod
    def of_ready(cls, answer: str) -> Opened:
        return cls(*map(int, answer[len(READY) :].split()))


_INTERPRETERS = (
    "python", "pypy", "ipython", "bash", "sh", "zsh", "dash", "ksh", "fish", "perl", "ruby", "node", "julia", "rscript",
    "java", "lua", "php", "torchrun", "accelerate", "deepspeed",
)  # fmt: skip


def is_interpreter(program: str) -> bool:
    """True for the usual programs that run scripts, of any version: they vanish with their environment."""
    return os.path.basename(program).lower().rstrip("0123456789.") in _INTERPRETERS


class CannotRun(Exception):
    """The message is shown to the owner of the job. `outside` names what is missing, if that is known.

    `missing` is the file or directory that is not there: the job may run on another node.
    """

    def __init__(self, message: str, outside: Optional[Outside] = None, missing: Optional[str] = None) -> None:
        super().__init__(message)
        self.outside = outside
        self.missing = missing


class Trouble(NamedTuple):
    """Why the command cannot run."""

    message: str
    outside: Optional[Outside] = None
    missing: Optional[str] = None

    @classmethod
    def of_answer(cls, answer: str) -> Trouble:
        outside, named, rest = answer.partition(_NAMED)
        missing, _, message = rest.partition(_NAMED)
        return cls(message, cast("Outside", outside or None), missing or None) if named else cls(answer)


def become(instance: str, shim_fd: int, failure_fd: int) -> NoReturn:
    """Wait for a job, prepare, wait for the byte that says the start is on record, and execute. Never returns."""
    try:
        os.setsid()
        process_title.change("tarmac: waits for a job")
        _undo_agent()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # A rehearsal: memory shared with the shim is copied on first use, and now there is time for it.
        read(decode(_REHEARSAL))
        assign = read_frame(shim_fd)
        start = assign and read_frame(shim_fd)
        if start:
            _run(cast("AssignFrame", decode(assign)), read(decode(start)), instance, shim_fd, failure_fd)
    except CannotRun as failure:
        _send(failure_fd, f"{failure.outside or ''}{_NAMED}{failure.missing or ''}{_NAMED}{failure}")
    except Exception as error:  # noqa: BLE001  the outermost frame of a process
        _send(failure_fd, f"cannot be started: {error}")
    finally:
        os._exit(127)


def _run(assign: AssignFrame, request: StartRequest, instance: str, shim_fd: int, failure_fd: int) -> None:
    os.umask(request.umask)
    cwd = _working_directory(request)
    cwd_inode = _enter(cwd)
    stdout_begin, stderr_begin = _open_files(request)
    os.nice(request.options.get("nice", 0))
    env = request.env
    env["PWD"] = cwd
    env.setdefault(
        "MASTER_PORT", str(assign["port"])
    )  # set already: the owner, or the first of several nodes, chose it
    if "PET_MASTER_ADDR" in env:  # a job on several nodes: torchrun reads its options from PET_ variables
        env.setdefault("PET_MASTER_PORT", env["MASTER_PORT"])
    argv = request.argv
    if request.options.get("fill"):
        values = fill.values_of(env, assign["port"])
        if "TARMAC_NODE_COUNT" in env:
            values["port"] = env["MASTER_PORT"]  # that of the first of several nodes
        argv = [fill.fill(word, values) for word in argv]
    if "venv" in request.options or "conda" in request.options:
        argv = _activated(argv, request)
    key = AttemptKey(request.job, request.attempt)
    env[MARK] = f"{instance}:{key}"
    limit_tag.apply(limit_tag.tag_for(instance, key))
    _send(failure_fd, f"{READY}{stdout_begin} {stderr_begin} {cwd_inode}")
    # The end of the pipe instead of a byte: the shim died before the start was on record, so nothing may run.
    if os.read(shim_fd, 1):
        _execute(argv, env)


def _working_directory(request: StartRequest) -> str:
    """The directory in the job's checkout, which is made now, for a job with a snapshot."""
    if request.snapshot is None:
        return request.cwd
    from tarmac.agent.run.shim.checkout import NoCheckout, make_checkout  # loads sqlite3, which most jobs do not need

    try:
        return make_checkout(request.snapshot, request.attempt)
    except NoCheckout as error:
        raise CannotRun(str(error), "disk-full" if error.is_full else None, error.missing) from None


def _activated(argv: List[str], request: StartRequest) -> List[str]:
    from tarmac.agent.environments.activation import NoEnvironment, activate  # most jobs need none

    venv, conda = request.options.get("venv"), request.options.get("conda")
    try:
        return activate(argv, request.env, request.cwd, venv=venv, conda=conda, shell=shell_path())
    except NoEnvironment as missing:
        raise CannotRun(str(missing), "no-interpreter", venv if venv and not os.path.exists(venv) else None) from None


def _send(failure_fd: int, message: str) -> None:
    os.write(failure_fd, message.encode("utf-8", "replace")[:4000])


def _undo_agent() -> None:
    for signum in _IGNORED_SIGNALS:
        signal.signal(signum, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    file_limit.restore()


def _enter(cwd: str) -> int:
    """Return the inode of the directory: another one may get its name while the command runs."""
    try:
        os.chdir(cwd)
        return os.stat(".").st_ino
    except FileNotFoundError:
        raise CannotRun(f"{cwd}: the working directory does not exist", "no-cwd", cwd) from None
    except OSError as error:
        raise CannotRun(f"{cwd}: cannot enter the working directory: {error.strerror}") from None


def _open_files(request: StartRequest) -> Tuple[int, int]:
    """Return the sizes of both files. Output of earlier attempts is in front of what the command writes."""
    _refuse_own_files(request)
    out_fd, out_size = err_fd, err_size = _open_log(request.stdout, append=request.append)
    if request.stderr is not None:
        err_fd, err_size = _open_log(request.stderr, append=request.append)
    os.dup2(out_fd, 1)
    os.dup2(err_fd, 2)
    return out_size, err_size


def _refuse_own_files(request: StartRequest) -> None:
    """A link made since the submit may lead into the state directory. Default logs are not looked at."""
    state = request.env.get("TARMAC_STATE", "")
    named = [path for path in (request.stdout, request.stderr) if path and not path.startswith(f"{state}/logs/")]
    if state and named:
        own = OwnFiles([state])
        for path in named:
            if own.includes(path):
                raise CannotRun(f"{path}: reserved for Tarmac's own files; choose another file")


def _open_log(path: str, *, append: bool) -> Tuple[int, int]:
    """Return the descriptor and the size of the file."""
    # Never truncate. Non-blocking for the open only: a FIFO without a reader must not hang the start.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
    try:
        fd = os.open(path, flags, 0o666)
        found = os.fstat(fd)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        missing = os.path.dirname(path) if error.errno == errno.ENOENT else None
        raise CannotRun(_log_trouble(path, error), "disk-full" if is_full else None, missing) from None
    if stat.S_ISREG(found.st_mode) and found.st_size and not append:
        raise CannotRun(f"{path}: the log exists already and is not overwritten; append to it or choose another file")
    os.set_blocking(fd, True)
    return fd, found.st_size


def _log_trouble(path: str, error: OSError) -> str:
    folder = os.path.dirname(path)
    if error.errno == errno.ENOENT:
        return f"{path}: cannot write the log: the directory {folder} does not exist"
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
                raise CannotRun(_exec_trouble(file, errno.ENOENT), "no-interpreter") from None
        except PermissionError:
            denied = denied or os.path.isfile(file)
        except OSError as error:
            raise CannotRun(_exec_trouble(file, error.errno)) from None
        except ValueError as error:  # a null byte in an argument
            raise CannotRun(f"{name}: cannot be started: {error}") from None
    if denied:
        raise CannotRun(_exec_trouble(name, errno.EACCES))
    outside: Optional[Outside] = "no-interpreter" if is_interpreter(name) else None
    raise CannotRun(f"{name}: command not found (PATH searched: {path})", outside)


def _exec_file(file: str, argv: List[str], env: Dict[str, str]) -> NoReturn:
    try:
        os.execve(file, argv, env)
    except ValueError as error:  # a null byte in an argument
        raise CannotRun(f"{file}: cannot be started: {error}") from None
    except OSError as error:
        is_missing = error.errno in (errno.ENOENT, errno.ENOTDIR) and (os.path.exists(file) or is_interpreter(file))
        is_gone = error.errno == errno.ENOENT and not os.path.exists(file)
        missing = os.path.abspath(file) if is_gone else None
        raise CannotRun(_exec_trouble(file, error.errno), "no-interpreter" if is_missing else None, missing) from None


def _exec_trouble(file: str, number: Optional[int]) -> str:
    if number == errno.EACCES:
        return f"{file}: is a directory" if os.path.isdir(file) else f"{file}: not executable"
    if number in (errno.ENOENT, errno.ENOTDIR):
        return (
            f"{file}: its interpreter is missing (see its #! line)" if os.path.exists(file) else f"{file}: no such file"
        )
    if number == errno.ENOEXEC:
        return f"{file}: not a program (a script needs a #! line)"
    if number == errno.E2BIG:
        return f"{file}: the arguments and the environment are too long for the kernel"
    return f"{file}: cannot be executed: {os.strerror(number or 0)}"
