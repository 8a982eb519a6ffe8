"""A submit: the jobs, and the directory, umask and environment of the submitter.

Paths are made absolute here, relative to the submitter's directory.
"""

from __future__ import annotations

import os

from tarmac.errors import TarmacError, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

    from tarmac.client.connection import Link
    from tarmac.client.remote.remote import Remote
    from tarmac.client.snapshots.submit import SubmitSnapshots

    Environment: TypeAlias = Mapping[str, str]

    class JobOptions(TypedDict, total=False):
        """The options of `tarmac add`; None means not given."""

        # Options, written by `python -m tests.shared.write_job_options`.
        gpus: int | None  # default 1, or the number of GPUs in gpus_on
        node_count: int | None
        name: str | None
        priority: int | None
        tags: Sequence[str] | None
        note: str | None
        project: str | None
        cwd: str | os.PathLike[str] | None
        snapshot: bool | int | None  # index in `snapshots` of the submit; false: none
        env: Sequence[str] | None  # `NAME=VALUE` each
        no_env: bool | None  # pass on only PATH, HOME and other basic variables
        venv: str | None  # a directory, relative to cwd
        conda: str | None  # a name, or the directory of the environment
        fill: bool | None
        log: str | os.PathLike[str] | None  # stdout and stderr together
        stdout: str | os.PathLike[str] | None
        stderr: str | os.PathLike[str] | None
        append: bool | None
        fetch: Sequence[str] | None  # files and directories to copy back, relative to cwd
        grace_s: float | None
        gpu_memory_bytes: int | str | None  # reserved on each GPU, which is shared
        gpu_share: float | None  # or this part of each GPU
        gpu_models: Sequence[str] | None  # parts of model names; one must match
        min_gpu_memory_bytes: int | None
        gpus_on: Sequence[int | str] | None  # by index, UUID or the beginning of a UUID
        exclude_gpus: Sequence[int | str] | None
        idle_below: int | None  # percent of utilization
        only_nodes: Sequence[str] | None  # names of nodes; empty: any
        exclude_nodes: Sequence[str] | None
        prefer_nodes: Sequence[str] | None
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
        max_running: int | None  # of its group at once
        # End of the options.

    class GroupRequest(TypedDict):
        """What the jobs of a submit form together."""

        kind: Literal["array", "sweep", "batch"]
        name: NotRequired[str | None]
        command: NotRequired[str]  # as lists show it, with placeholders
        indices: NotRequired[str]  # of an array with one job: 0-99, 1-10:2, 1,3,5

    class JobRequest(JobOptions):
        """One job."""

        fill_paths: NotRequired[bool]  # log, stdout and stderr contain {id}, {name} or {index}; {{ and }} are braces
        link: NotRequired[Sequence[str]]  # paths that a snapshot does not contain, but links to
        origins: NotRequired[Mapping[str, str]]  # where options come from that were not given, by name
        params: NotRequired[Mapping[str, str]]  # of a sweep: the values that the job is made of

        command: NotRequired[Sequence[str] | str]  # an argv, or a string for the shell
        shell: NotRequired[str]  # alternatively, the string for the shell


SUBMIT_S = 300  # a million jobs take their time
SNAPSHOT_TRIES = 3
PATHS = ("log", "stdout", "stderr")


def submission(
    requests: Iterable[JobRequest],
    environment: Environment | None,
    umask: int | None,
    token: str,
    remote: Remote | None = None,
) -> dict[str, Any]:
    """The body of POST /jobs. `remote` is the machine that it is sent to, if it is another one."""
    cwd = working_folder()
    body = {
        "token": token,
        "cwd": cwd,
        "umask": current_umask() if umask is None else umask,
        "environment": dict(sendable(os.environ if environment is None else environment)[0]),
        "jobs": [_job(request, cwd) for request in requests],
    }
    if remote is not None:
        from tarmac.client.remote.submits import settle

        settle(body, remote.about, environment, umask)
    return body


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


def submitted(client: Link, body: dict[str, Any], on_hint: Callable[[str], object] | None) -> Any:
    """The answer. Snapshots are taken at once where jobs ask for them, otherwise when the controller refuses."""
    if body.get("dry_run"):
        for job in body["jobs"]:
            job.pop("snapshot", None)
            job.pop("link", None)
        return _sent(client, body)
    snapshots: SubmitSnapshots | None = None
    body["can_snapshot"] = True
    if any(job.get("snapshot") is True or "link" in job for job in body["jobs"]):
        snapshots = _snapshots(client, body, on_hint)
        snapshots.take()
    for _ in range(SNAPSHOT_TRIES):
        try:
            return _sent(client, body)
        except TarmacError as error:
            if error.key == "snapshot.expected":
                snapshots = snapshots or _snapshots(client, body, on_hint)
                snapshots.take(is_default=True)
            elif error.key == "snapshot.unknown" and snapshots is not None:
                snapshots.renew()
            else:
                raise
    return _sent(client, body)


def _sent(client: Link, body: dict[str, Any]) -> Any:
    if client.remote is None:
        return client.call("POST", "/jobs", body=body, has_token=True, within_s=SUBMIT_S)
    from tarmac.client.remote.submits import at_home, explain_directory

    body = at_home(body, client.remote.about["home"])
    try:
        return client.call("POST", "/jobs", body=body, has_token=True, within_s=SUBMIT_S)
    except TarmacError as error:
        explain_directory(error, client.remote.name)
        raise


def _snapshots(client: Link, body: dict[str, Any], on_hint: Callable[[str], object] | None) -> SubmitSnapshots:
    from tarmac.client.snapshots.submit import SubmitSnapshots  # loads what most submits do not need

    return SubmitSnapshots(client, body, on_hint)
