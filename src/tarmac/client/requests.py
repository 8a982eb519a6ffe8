"""The body of a submit: the jobs, and the directory, umask and environment of the submitter.

Paths are made absolute here, relative to the submitter's directory.
"""

from __future__ import annotations

import os

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, NotRequired, TypeAlias, TypedDict

    Environment: TypeAlias = Mapping[str, str]

    class JobOptions(TypedDict, total=False):
        """The options of `tarmac add`; None means not given."""

        # Options, written by `python -m tests.shared.write_job_options`.
        gpus: int | None  # default 1, or the number of GPUs in gpus_on
        name: str | None
        priority: int | None
        tags: Sequence[str] | None
        project: str | None
        cwd: str | os.PathLike[str] | None
        env: Sequence[str] | None  # `NAME=VALUE` each
        fill: bool | None
        log: str | os.PathLike[str] | None  # stdout and stderr together
        stdout: str | os.PathLike[str] | None
        stderr: str | os.PathLike[str] | None
        append: bool | None
        grace_s: float | None
        gpu_memory_bytes: int | str | None  # reserved on each GPU, which is shared
        gpu_share: float | None  # or this part of each GPU
        gpu_models: Sequence[str] | None  # parts of model names; one must match
        min_gpu_memory_bytes: int | None
        gpus_on: Sequence[int | str] | None  # by index, UUID or the beginning of a UUID
        exclude_gpus: Sequence[int | str] | None
        idle_below: int | None  # percent of utilization
        memory_bytes: int | None  # of the host
        cpus: int | None
        time_limit_s: float | None
        after: Sequence[str] | None  # "7:ok", "7:any", "7:fail"; "#0:ok" is the first job of the same submit
        begin_at: float | None  # seconds since 1970
        tier: str | None  # urgent, normal or preemptible
        signal: int | None  # asks it to stop
        retries: int | None  # how often it runs again; default: the setting
        retry_on: Sequence[str] | None  # exit, signal, oom, timeout, lost or launch
        retry_delay_s: float | None  # before the first retry; then doubled
        on_oom: str | None  # fail, retry or grow
        requeue: bool | None
        warn: str | None  # `USR1@120`, or `B:USR1@120` for the main process only
        nice: int | None  # 0 to 19
        notify: Sequence[str] | None  # names of targets; default: those of the config file
        notify_on: Sequence[str] | None  # start, end, fail, oom, idle, retry
        max_running: int | None  # of its array at once
        # End of the options.

    class JobRequest(JobOptions):
        """One job."""

        command: NotRequired[Sequence[str] | str]  # an argv, or a string for the shell
        shell: NotRequired[str]  # alternatively, the string for the shell


PATHS = ("log", "stdout", "stderr")


def submission(
    requests: Iterable[JobRequest], environment: Environment | None, umask: int | None, token: str
) -> dict[str, Any]:
    """The body of POST /jobs."""
    cwd = working_folder()
    return {
        "token": token,
        "cwd": cwd,
        "umask": current_umask() if umask is None else umask,
        "environment": dict(sendable(os.environ if environment is None else environment)[0]),
        "jobs": [_job(request, cwd) for request in requests],
    }


def working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UserError("the current directory no longer exists", "change to another directory with `cd`") from None


def current_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def sendable(environment: Environment) -> tuple[Environment, list[str]]:
    """The variables that are UTF-8, and the names of those that are not and cannot be sent as JSON."""
    try:
        "\0".join([*environment, *environment.values()]).encode("utf-8")
        return environment, []
    except UnicodeEncodeError:
        left_out = [name for name, value in environment.items() if not _is_text(name + value)]
        kept = {name: value for name, value in environment.items() if name not in left_out}
        return kept, [name.encode("utf-8", "backslashreplace").decode() for name in left_out]


def _job(request: JobRequest, cwd: str) -> dict[str, Any]:
    job: dict[str, Any] = {name: value for name, value in request.items() if value is not None}
    job |= _command(job.pop("command", None), job.pop("shell", None))
    if not isinstance(job.get("gpus", 0), int):
        raise UserError(f"gpus is {job['gpus']!r}, which is not a whole number", "give a number, such as gpus=2")
    base = job["cwd"] = _text(os.path.join(cwd, os.fspath(job.get("cwd", cwd))))
    for name in PATHS:
        if name in job:
            job[name] = _text(os.path.normpath(os.path.join(base, os.fspath(job[name]))))
    return job


def _command(command: object, shell: object) -> dict[str, Any]:
    if (command is None) == (shell is None):
        said = "neither a command nor a shell string" if command is None else "both a command and a shell string"
        raise UserError(f"a job has {said}", "give one of them: a list of words, or a string for the shell")
    line = command if shell is None else shell
    if isinstance(line, str):
        return {"shell": _text(line)}
    if shell is not None or isinstance(line, bytes) or not hasattr(line, "__iter__"):
        raise UserError(f"{line!r} is not a command", "give a list of words, or a string for the shell")
    words = list(line)
    for word in words:
        if not isinstance(word, (str, os.PathLike)):
            raise UserError(f"{word!r} in the command {words!r} is not text", f"give it as {str(word)!r}")
    return {"command": [_text(os.fspath(word)) for word in words]}


def _text(value: str) -> str:
    if not _is_text(value):
        shown = value.encode("utf-8", "backslashreplace").decode()
        raise UserError(f"not UTF-8: {shown}", "put it into a script, and queue the script")
    return value


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
