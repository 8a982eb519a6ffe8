"""`tarmac show`: everything about a job, including why it waits and its history."""

from __future__ import annotations

from time import time

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, numbers_of
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.job import COLOURS, attempt_number, command_of, place_in_queue, progress, state_words, used
from tarmac.cli.render.requests import origin_words
from tarmac.cli.render.show.job_options import option_lines
from tarmac.cli.render.show.snapshot import snapshot_lines
from tarmac.cli.render.show.story import left_behind, story
from tarmac.cli.render.text import cells, gpu_names, safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, paint, width
from tarmac.shared.clocks import epoch, local
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.signal_names import signal_name
from tarmac.shared.units import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.answers import Part
    from tarmac.client.records import Job

SENTENCES = ("message", "error", "hint", "stale", "warning", "why")
ENDED_BADLY = ("failed", "unknown")


def run(values: Values, words: list[str]) -> int:
    client = connect()
    if values["env"]:
        return _show_environments(client, numbers_of(client, values, words), is_json=values["json"])
    jobs = [client.job(job) for job in numbers_of(client, values, words)]
    if values["json"]:
        out_json([job.raw for job in jobs])
        return 0
    for index, job in enumerate(jobs):
        text = [*description(job), *_attempts(job), *story(job.id, client.story(job.id))]
        out(("\n" if index else "") + "\n".join(text) + "\n")
    return 0


def _show_environments(client: Client, numbers: list[int], *, is_json: bool) -> int:
    from tarmac.cli.render.show.environment import environment_lines

    found = {number: client.environment(number) for number in numbers}
    if is_json:
        out_json([{"id": number, "variables": variables} for number, variables in found.items()])
        return 0
    for index, (number, variables) in enumerate(found.items()):
        title = f"{chr(10) * bool(index)}Job {number}\n" if len(found) > 1 else ""
        out(title + "".join(f"{line}\n" for line in environment_lines(variables)))
    return 0


def description(job: Job) -> list[str]:
    colours = has_colours()
    state = state_words(job)
    title = f"Job {job.id}" + (f"  {safe(job.name)}" if job.name else "")
    pairs = list(_facts(job))
    wide = max(len(name) for name, _ in pairs)
    lines = [paint(title, "bold") if colours else title]
    lines.append(f"  {_label('state', wide)}  {paint(state, COLOURS.get(job.state)) if colours else state}")
    before = "state"
    for name, value in pairs:
        first, *rest = folded(value, wide + 4, at_blanks=name in SENTENCES)
        if name == "warning" and colours:
            first, rest = paint(first, "yellow"), [paint(line, "yellow") for line in rest]
        lines.append(f"  {_label('' if name == before else name, wide)}  {first}")
        lines += [" " * (wide + 4) + line for line in rest]
        before = name
    return lines


def _attempts(job: Job) -> list[str]:
    """A table, if there are several, or if one failed and the next one waits."""
    from tarmac.cli.render.show.attempts import attempt_table

    table = attempt_table(job, width=None if width() is None else (width() or 0) - 2, has_colours=has_colours())
    title = paint("Attempts", "bold") if has_colours() else "Attempts"
    return [title, *[f"  {line}" for line in table]] if table else []


def _label(name: str, wide: int) -> str:
    return paint(name.ljust(wide), "dim") if has_colours() else name.ljust(wide)


def folded(text: str, indent: int, *, at_blanks: bool = False) -> list[str]:
    """Split to fit the terminal, `at_blanks` if words fit; one line if the output is not a terminal."""
    room = (width() or 0) - indent
    if room < 20 or cells(text) <= room:
        return [text]
    if not at_blanks:
        return _cut(text, room)
    *lines, line = [""]
    for word in text.split(" "):
        if not line or cells(line) + 1 + cells(word) <= room:
            line = f"{line} {word}" if line else word
        else:
            lines.append(line)
            line = word
        *full, line = _cut(line, room)
        lines += full
    return [*lines, line]


def _cut(text: str, room: int) -> list[str]:
    lines, line, left = [], "", room
    for char in text:
        left -= cells(char)
        if left < 0:
            lines.append(line)
            line, left = "", room - cells(char)
        line += char
    return [*lines, line]


def _places(job: Job) -> Iterator[tuple[str, str]]:
    """Where it runs or ran."""
    if job.parts:
        yield from _parts(job.parts)
        return
    for name, value in (("node", job.node), ("pid", job.pid)):
        if value is not None:
            yield name, safe(str(value))


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    yield from _news(job)
    yield "command", safe(command_of(job))
    yield "cwd", safe(job.cwd)
    if job.snapshot is not None:
        yield from snapshot_lines(job.snapshot)
    yield "owner", safe(job.owner)
    yield from _descent(job)
    if job.fetched is not None:
        from tarmac.cli.render.show.fetched import fetched_lines

        yield from fetched_lines(job.fetched)
    yield "gpus", f"{_gpus(job)}{origin_words((job.origins or {}).get('gpus'))}"
    yield from option_lines(job, time())
    yield from _other_defaults(job)
    if job.python is not None:
        from tarmac.cli.render.show.environment import python_words

        yield "python", python_words(job.python)
    yield from _places(job)
    for link in job.links or ():
        yield link["kind"], safe(link["url"])
    yield from place_in_queue(job)
    yield from _attempt(job)
    if job.oom_count:
        yield "out of memory", f"{job.oom_count} {'attempt' if job.oom_count == 1 else 'attempts'}"
    yield from _times(job)
    if words := used(job):
        yield "used", words
    if job.leftovers:
        yield "left behind", left_behind(job.leftovers)
    yield from _outputs(job)


def _parts(parts: Sequence[Part]) -> Iterator[tuple[str, str]]:
    """A line for each node of a job on several nodes."""
    for part in parts:
        words = [part["state"] if part["state"] != "cancelled" else "not started"]
        if part["pid"] is not None and part["state"] == "running":
            words.append(f"pid {part['pid']}")
        if part["signal"] is not None:
            words.append(f"ended by {signal_name(part['signal'])}")
        elif part["exit_code"]:
            words.append(f"exit code {part['exit_code']}")
        if part["message"]:
            words.append(part["message"])
        if part["is_cause"]:
            words.append("the others were stopped because of it")
        yield f"node {part['rank']}", safe(f"{part['node']}: {', '.join(words)}")


def _descent(job: Job) -> Iterator[tuple[str, str]]:
    """The job that it was made from."""
    if job.original_id is not None:
        is_same = job.original_id == job.id
        yield "imported", "with the id it was submitted with" if is_same else f"submitted as job {job.original_id}"
    for label, other in (("copy of", job.clone_of), ("rerun of", job.rerun_of)):
        if other is not None:
            yield label, f"job {other}"


def _other_defaults(job: Job) -> Iterator[tuple[str, str]]:
    """Options from a file or a template that have no line of their own."""
    shown = {option.wire for option in JOB_OPTIONS if option.label and option.view} | {"gpus"}
    for name, origin in (job.origins or {}).items():
        if name not in shown:
            yield "default", f"{safe(name)}{safe(origin_words(origin))}"


def _attempt(job: Job) -> Iterator[tuple[str, str]]:
    """As in `ls`: the next attempt, if the job waits for it."""
    number = attempt_number(job)
    if job.attempts_max is not None:
        yield "attempt", f"{number} of at most {job.attempts_max}"
    elif number > 1:
        yield "attempt", str(number)


def _news(job: Job) -> Iterator[tuple[str, str]]:
    """What most users look for first."""
    if job.message:
        yield "message", safe(job.message)
    if job.error_line:
        yield "error", safe(job.error_line)
    if job.reason not in {"exit", "signal"} and job.state in ENDED_BADLY:
        yield from _status(job)
    if job.hint:
        yield "hint", safe(job.hint)
    if job.stale_reason:
        yield "stale", safe(job.stale_reason)
    for line in job.warnings or ():
        yield "warning", safe(line)
    for line in job.why or ():
        yield "why", safe(line)


def _status(job: Job) -> Iterator[tuple[str, str]]:
    """The exit status, where the state names another reason."""
    if job.signal is not None:
        yield "exit", f"ended by {signal_name(job.signal)}"
    elif job.exit_code is not None:
        yield "exit", f"code {job.exit_code}"


def _gpus(job: Job) -> str:
    asked = str(job.gpus_asked)
    if not job.gpus:
        return asked
    return f"{asked} ({gpu_names([gpu['name'] for gpu in job.gpus])})"


def _times(job: Job) -> Iterator[tuple[str, str]]:
    submitted, started, ended = (job.raw[name] for name in ("submitted_at", "started_at", "ended_at"))
    yield "submitted", local(submitted)
    if started:
        yield "started", f"{local(started)}, after {duration(epoch(started) - epoch(submitted))}"
    elif job.raw.get("retry_at"):
        yield "retry", f"{local(job.raw['retry_at'])}; `tarmac retry {job.id}` starts it now"
    elif estimate := job.raw.get("estimated_start"):
        basis = f" based on {job.estimate_basis}" if job.estimate_basis else ""
        yield "starts", safe(f"~{local(estimate)}, an estimate{basis}")
    if ended:
        yield "ended", local(ended) + (f", ran {duration(job.elapsed_s)}" if job.elapsed_s is not None else "")
    elif job.elapsed_s is not None:
        yield ("ran" if job.state == "paused" else "running"), f"for {duration(job.elapsed_s)}"
    if job.state == "paused":
        yield "paused", _paused(job)
    elif job.pause_s:
        yield "paused", f"for {duration(job.pause_s)} in all"
    if job.progress and not ended:
        done, left = progress(job.progress)
        yield "progress", f"{done}, {left} left" if left else done


def _paused(job: Job) -> str:
    since, total = local(job.raw["paused_at"]), f", for {duration(job.pause_s)} in all"
    keeps = "; it keeps its GPUs" if job.gpus else ""
    return safe(f"since {since} by {job.paused_by}{total}{keeps}; `tarmac resume {job.id}` continues it")


def _outputs(job: Job) -> Iterator[tuple[str, str]]:
    stdout, stderr = job.stdout_path, job.stderr_path
    if job.adopted:
        yield "log", "none: the job was adopted, so its output is not redirected"
    elif stderr and stderr != stdout:
        yield "stdout", safe(stdout or "")
        yield "stderr", safe(stderr)
    else:
        yield "log", safe(job.log_path or "")


VERB = Verb(
    "show",
    "show everything about a job: why it waits, how it ended, its history",
    usage=("tarmac show [ID…] [options]",),
    run=run,
    options=(
        *FILTERS,
        Option("--env", None, "list the variables that the job was submitted with; secrets are masked"),
        JSON,
    ),
    examples=(
        ("tarmac show 7", "one job"),
        ("tarmac show 7 --env", "its environment, without the values of secrets"),
        ("tarmac show last --json | jq '.[0].state'", "your newest job; JSON is always a list"),
    ),
    notes=(IDS_NOTE, "The default is `last`."),
)
