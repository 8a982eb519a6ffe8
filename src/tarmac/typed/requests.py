"""The body of a job, made of the values of its options. Contradictions are refused before the controller is asked."""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.option import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal, TypeAlias

    from tarmac.shared.job_options import JobOption
    from tarmac.typed.option import Values
    from tarmac.typed.values import Indices

    Entry: TypeAlias = Literal["queued", "held", "draft"]
    NumberOf: TypeAlias = Callable[[str], int]  # the id of a job: of `7`, or of `last`
    Body: TypeAlias = dict[str, Any]  # a job of a submit, as in docs/api.md
    GroupBody: TypeAlias = dict[str, Any]

MOST_AFTER = 10_000  # jobs that one job may wait for
PATHS = ("log", "stdout", "stderr")


def dependencies(number_of: NumberOf, given: Sequence[Sequence[str]]) -> list[str]:
    """`7:ok` for each job: ranges expanded, `last` as its id."""
    found: dict[str, None] = {}
    for part in (part for parts in given for part in parts):
        job, _, on = part.partition(":")
        first, dash, last = job.partition("-")
        if not dash:
            found[f"{number_of(job)}:{on}"] = None
            continue
        if int(last) < int(first):
            raise UserError(f"--after {job} is not a range of jobs", "write the smaller id first, such as 3-7")
        if int(last) - int(first) >= MOST_AFTER:
            raise UserError(f"--after {job}: a job can wait for at most {MOST_AFTER:,} others", "name the last of them")
        found |= dict.fromkeys(f"{number}:{on}" for number in range(int(first), int(last) + 1))
    return list(found)


def request_of(verb: str, values: Values, words: list[str], number_of: NumberOf | None = None) -> Body:
    """The body of a job. Without `number_of`, the jobs that it waits for stay as typed."""
    values = settled(values)
    shell = values["shell"]
    _check_command(verb, shell, words)
    _check_gpus(verb, values)
    request: dict[str, Any] = {"command": words if shell is None else shell}
    for option in JOB_OPTIONS:
        value = values.get(option.name)
        if option.wire and value is not None and value is not False and value != []:
            request[option.wire] = cleared(option, flat(value)) if option.is_many else value
    if values.get("env_file"):
        request["env"] = [*flat(values["env_file"]), *request.get("env", ())]  # the last value of a name counts
    request |= _snapshot(verb, values)
    if "signal" in request:
        request |= signals(verb, request.pop("signal"))
    if values["after"] and number_of is not None:
        request["after"] = dependencies(number_of, values["after"])
    if values.get("origins"):
        request["origins"] = {_name_sent(name): origin for name, origin in values["origins"].items()}
    if verb != "sweep" and any("{" in request.get(name, "") for name in PATHS):  # a sweep has filled them in itself
        request |= filled_paths(request)
    return request


def _name_sent(name: str) -> str:
    """The name of an option in a submit."""
    return next((option.wire for option in JOB_OPTIONS if option.name == name), "") or name


def filled_paths(request: dict[str, Any]) -> dict[str, Any]:
    """The output files that contain {id}, {name} or {index}, as the controller reads them."""
    from tarmac.typed.output_paths import template_of

    given = {name: request[name] for name in PATHS if name in request}
    found = {name: template_of(path) for name, path in given.items()}
    if all(template is None for template in found.values()):
        return {}
    doubled = {name: given[name].replace("{", "{{").replace("}", "}}") for name in given}
    return {name: template or doubled[name] for name, template in found.items()} | {"fill_paths": True}


def settled(values: Values) -> Values:
    """Without what was cleared. Only `notify` keeps its `none`, which the controller must know about."""
    return {name: _settled(name, value) for name, value in values.items()}


def _settled(name: str, value: Any) -> Any:
    if value == NONE:
        return None
    return [] if value == [NONE] and name != "notify" else value


def snapshot_of_copies(verb: str, values: Values) -> bool | None:
    """True: a new one; false: none; None: as the original jobs."""
    _refuse_both(verb, values)
    return False if values["no_snapshot"] else True if values["snapshot"] else None


def _refuse_both(verb: str, values: Values) -> None:
    origins = values.get("origins", {})
    if values.get("snapshot") and values.get("no_snapshot") and not {"snapshot", "no_snapshot"} & origins.keys():
        raise UserError(f"{verb}: --snapshot and --no-snapshot exclude each other", "leave out one of them")


def _snapshot(verb: str, values: Values) -> dict[str, Any]:
    """What is typed wins over a default that says the opposite."""
    origins = values.get("origins", {})
    is_wanted, is_refused = (bool(values.get(name)) for name in ("snapshot", "no_snapshot"))
    _refuse_both(verb, values)
    if is_refused and values.get("link") and "link" not in origins and "no_snapshot" not in origins:
        raise UserError(f"{verb}: --link needs a snapshot, but --no-snapshot is given", "leave out one of them")
    if is_refused and not (is_wanted and "no_snapshot" in origins):
        return {"snapshot": False}
    return {"link": flat(values["link"])} if values.get("link") else {}


def flat(values: list[Any]) -> list[Any]:
    """An option that may be repeated may also take several values at once."""
    return [one for value in values for one in (value if isinstance(value, list) else [value])]


def cleared(option: JobOption, values: list[Any]) -> list[Any]:
    """Empty for `none`, which stands alone."""
    if NONE not in values:
        return values
    if any(value != NONE for value in values):
        raise UserError(f"{option.flag}: none cannot be combined with other values", "leave out one of them")
    return []


def signals(verb: str, given: Sequence[int | str]) -> dict[str, Any]:
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


def array_group(verb: str, values: Values, request: Body) -> GroupBody | None:
    """The group of an array. Adds the limit of `0-99%8` to the request of its jobs."""
    array: Indices | None = values.get("array")
    if array is None:
        if values.get("max_running") is not None:
            raise UserError(f"{verb}: --max-running needs --array", "give the indices: --array 0-99")
        return None
    if array.max_running is not None:
        if values.get("max_running") not in {None, array.max_running}:
            raise UserError(
                f"{verb}: --array says %{array.max_running}, --max-running says {values['max_running']}",
                "leave out one of them",
            )
        request["max_running"] = array.max_running
    return {"kind": "array", "name": values.get("group") or values.get("name"), "indices": array.text}


def entry_of(verb: str, values: Values) -> Entry:
    """Whether the jobs are queued, held or drafts."""
    if values.get("hold") and values.get("draft"):
        raise UserError(
            f"{verb}: --hold and --draft exclude each other",
            "use --hold for a job that is ready, --draft for one that you still work on",
        )
    return "held" if values.get("hold") else "draft" if values.get("draft") else "queued"
