"""The options that describe a job, for `add`, `run` and `edit`, and the submit itself.

The options are those of shared/job_options.py. Contradictions are refused here, before any controller is asked.
"""

from __future__ import annotations

import os

from tarmac.cli.args import values as readers
from tarmac.cli.parser import Option
from tarmac.cli.term.terminal import err
from tarmac.errors import UserError
from tarmac.shared.job_options import JOB_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.requests import JobRequest
    from tarmac.shared.job_options import JobOption

MOST_AFTER = 10_000  # jobs that one job may wait for
NONE = "none"  # what `edit` takes to clear an option


def options_of(verb: str) -> list[Option]:
    return [_option(option, verb) for option in JOB_OPTIONS if verb in option.verbs]


def _option(option: JobOption, verb: str) -> Option:
    read: Callable[[str], object] | None = getattr(readers, option.read) if option.read else None
    words = option.help
    if verb == "edit" and option.can_clear and read is not None:
        words, read = f"{words}; `none` clears it", _or_none(read)
    return Option(option.flag, option.short or None, words, option.metavar or None, read, has_many=option.is_many)


def _or_none(read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda word: NONE if word == NONE else read(word)


def submit(client: Client, verb: str, values: Values, words: list[str]) -> list[int]:
    """The ids: one, or one for each job of the array."""
    request = _request(verb, values, words)
    copies, entry = _entry(verb, values)
    if values["after"]:
        request["after"] = dependencies(client, values["after"])
    environment, left_out = _environment()
    requests = [request] * (copies or 1)
    on_hint = None if values["json"] else _tell
    is_array = copies is not None
    ids = client.submit_many(requests, environment=environment, array=is_array, entry=entry, on_hint=on_hint)
    for name in left_out:
        err(f"tarmac: {name} is not UTF-8 and was left out of the job's environment\n")
    return ids


def _tell(hint: str) -> None:
    from tarmac.cli.render.text import safe

    err(f"tarmac: {safe(hint)}\n")


def changes(client: Client, values: Values) -> dict[str, Any]:
    """What `edit` sends, by wire name; null or an empty list where `none` was typed."""
    found: dict[str, Any] = {}
    for option in JOB_OPTIONS:
        value = values.get(option.name)
        if value is None or value == []:
            continue
        if option.is_many:
            found[option.wire] = _cleared(option, _flat(value))
        else:
            found[option.wire] = None if value is NONE else value
    if found.get("after"):
        found["after"] = dependencies(client, values["after"])
    return found


def dependencies(client: Client, given: Sequence[Sequence[str]]) -> list[str]:
    """`7:ok` for each job: ranges expanded, `last` as its id."""
    found: dict[str, None] = {}
    for part in (part for parts in given for part in parts):
        job, _, on = part.partition(":")
        first, dash, last = job.partition("-")
        if not dash:
            found[f"{client.number_of(job)}:{on}"] = None
            continue
        if int(last) < int(first):
            raise UserError(f"--after {job} is not a range of jobs", "write the smaller id first, such as 3-7")
        if int(last) - int(first) >= MOST_AFTER:
            raise UserError(f"--after {job}: a job can wait for at most {MOST_AFTER:,} others", "name the last of them")
        found |= dict.fromkeys(f"{number}:{on}" for number in range(int(first), int(last) + 1))
    return list(found)


def _request(verb: str, values: Values, words: list[str]) -> JobRequest:
    shell = values["shell"]
    _check_command(verb, shell, words)
    _check_gpus(verb, values)
    request: dict[str, Any] = {"command": words if shell is None else shell}
    for option in JOB_OPTIONS:
        value = values.get(option.name)
        if option.wire and value is not None and value is not False and value != []:
            request[option.wire] = _flat(value) if option.is_many else value
            if option.wire == "notify":
                request["notify"] = _cleared(option, request["notify"])
    if "signal" in request:
        request |= _signals(verb, request.pop("signal"))
    return request  # type: ignore[return-value]


def _flat(values: list[Any]) -> list[Any]:
    """An option that may be repeated may also take several values at once."""
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def _cleared(option: JobOption, values: list[Any]) -> list[Any]:
    """Empty for `none`, which stands alone."""
    if NONE not in values:
        return values
    if any(value != NONE for value in values):
        raise UserError(f"{option.flag}: none cannot be combined with other values", "leave out one of them")
    return []


def _signals(verb: str, given: Sequence[int | str]) -> dict[str, Any]:
    """The signal that stops the job, and the warning."""
    stops = [one for one in given if isinstance(one, int)]
    warnings = [one for one in given if isinstance(one, str)]
    if len(stops) > 1 or len(warnings) > 1:
        raise UserError(
            f"{verb}: --signal is given {len(given)} times",
            "give at most one signal that stops the job (USR1) and one that warns it (USR1@120)",
        )
    return {**({"signal": stops[0]} if stops else {}), **({"warn": warnings[0]} if warnings else {})}


def _check_command(verb: str, shell: str | None, words: list[str]) -> None:
    if shell is not None and words:
        raise UserError(f"{verb}: got a shell string and a command ({words[0]} …)", "quote the whole string after -c")
    if shell is None and not any(words[:1]):
        raise UserError(f"{verb}: the command is empty", f"give the command to run: `tarmac {verb} python train.py`")
    if shell is not None and not shell.strip():
        raise UserError(f"{verb}: the shell string is empty", f"give one: `tarmac {verb} -c 'make && ./train'`")


def _check_gpus(verb: str, values: Values) -> None:
    asked = [option.flag for option in JOB_OPTIONS if option.takes_gpu and values[option.name] is not None]
    if values["gpus"] == 0 and asked:
        raise UserError(f"{verb}: {asked[0]} needs a GPU, but -g 0 requests none", f"leave out {asked[0]} or -g 0")
    if values["gpu_mem"] is not None and values["gpu_share"] is not None:
        raise UserError(
            f"{verb}: --gpu-mem and --gpu-share both set how much of a GPU is reserved",
            "use --gpu-mem if you know how much memory the job needs, otherwise --gpu-share",
        )
    if values["gpus_on"] is not None:
        _check_pins(verb, values["gpus_on"], values["exclude_gpus"] or (), values["gpus"])


def _check_pins(verb: str, pinned: Sequence[int | str], excluded: Sequence[int | str], count: int | None) -> None:
    if count not in {None, len(pinned)}:
        names = ",".join(map(str, pinned))
        raise UserError(
            f"{verb}: -g {count} does not match --gpus-on {names}, which names {len(pinned)}",
            f"leave out -g; or exclude GPUs with --exclude-gpus, to get any {count} of the others",
        )
    both = [gpu for gpu in pinned if gpu in excluded]
    if both:
        raise UserError(f"{verb}: GPU {both[0]} is in both --gpus-on and --exclude-gpus", "remove it from one of them")


def _entry(verb: str, values: Values) -> tuple[int | None, str]:
    """The number of copies if it is an array, and whether they are queued, held or drafts."""
    copies: int | None = values.get("array")
    if values.get("max_running") is not None and copies is None:
        raise UserError(f"{verb}: --max-running needs --array", "give the number of jobs: --array 0-99")
    if values.get("hold") and values.get("draft"):
        raise UserError(
            f"{verb}: --hold and --draft exclude each other",
            "use --hold for a job that is ready, --draft for one that you still work on",
        )
    return copies, "held" if values.get("hold") else "draft" if values.get("draft") else "queued"


def _environment() -> tuple[dict[str, str], list[str]]:
    from tarmac.client.requests import sendable

    kept, left_out = sendable(os.environ)
    return dict(kept), left_out
