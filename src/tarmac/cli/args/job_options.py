"""The options that describe a job, and the submit itself: shared by `add` and `run`."""

from __future__ import annotations

import os

from tarmac.cli.args.needs import GPUS, NEEDS, needs_of
from tarmac.cli.args.values import integer, seconds
from tarmac.cli.args.when import TURN, entry_of, waited_for, when_of
from tarmac.cli.parser import Option, text
from tarmac.cli.term.terminal import err
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.requests import JobRequest

LONGEST = 4096


def label(word: str) -> str:
    if len(word) > LONGEST:
        raise ValueError(f"it has {len(word)} characters, and {LONGEST} is the most")
    return text(word)


JOB_OPTIONS = (
    GPUS,
    Option("--name", "-n", "a name, for you and for filters", "NAME", label),
    Option("--priority", "-p", "smaller goes first (default 10)", "N", integer),
    Option("--tag", None, "a tag; may be given several times", "TAG", label, has_many=True),
    Option("--project", None, "the project it belongs to", "NAME", label),
    Option("--shell", "-c", "run a shell string instead of a command", "STRING"),
    Option("--cwd", None, "the folder to run in (default: this one)", "DIR"),
    Option("--log", None, "write stdout and stderr to this file", "PATH"),
    Option("--stdout", None, "write stdout to this file", "PATH"),
    Option("--stderr", None, "write stderr to a file of its own", "PATH"),
    Option("--append", None, "append to these files if they exist"),
    Option("--grace", None, "seconds it has to stop when asked (default 10)", "S", seconds),
    *NEEDS,
    *TURN,
)


def submit(client: Client, verb: str, values: Values, words: list[str]) -> list[int]:
    """The ids: one, or as many as the array has copies."""
    request = _request(verb, values, words)
    copies, entry = entry_of(verb, values)
    if values["after"]:
        request["after"] = waited_for(client, values["after"])
    environment, left_out = _environment()
    requests = [request] * (copies or 1)
    ids = client.submit_many(requests, environment=environment, array=copies is not None, entry=entry)
    for name in left_out:
        err(f"tarmac: {name} is not UTF-8 and was left out of the job's environment\n")
    return ids


def _request(verb: str, values: Values, words: list[str]) -> JobRequest:
    shell = values["shell"]
    if shell is not None and words:
        raise UserError(
            f"{verb}: both a shell string and a command ({words[0]} …)",
            "quote the whole string after -c",
        )
    if shell is None and not any(words[:1]):
        raise UserError(f"{verb}: the command is empty", f"give the command to run: `tarmac {verb} python train.py`")
    if shell is not None and not shell.strip():
        raise UserError(f"{verb}: the shell string is empty", f"give one: `tarmac {verb} -c 'make && ./train'`")
    given = {name: values[name] for name in ("gpus", "priority", "name", "project", "cwd", "log", "stdout", "stderr")}
    request: JobRequest = {
        "command": words if shell is None else shell,
        "tags": values["tag"],
        "append": values["append"],
        "grace_s": values["grace"],
    }
    given |= needs_of(verb, values) | when_of(values) | {"max_running": values.get("max_running")}
    request.update({name: value for name, value in given.items() if value is not None})  # type: ignore[typeddict-item]
    return request


def _environment() -> tuple[dict[str, str], list[str]]:
    from tarmac.client.requests import sendable

    kept, left_out = sendable(os.environ)
    return dict(kept), left_out
