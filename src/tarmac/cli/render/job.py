"""Parts of a job as text: state, GPUs, run time, start and use."""

from __future__ import annotations

from tarmac.cli.render.text import gpu_spans, safe
from tarmac.shared.clocks import clock, epoch
from tarmac.shared.names import ENDED
from tarmac.shared.signal_names import signal_name
from tarmac.shared.text import shown_command
from tarmac.shared.units import HOUR_S, duration, size, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client.answers import Progress
    from tarmac.client.records import Job

COLOURS = {
    "running": "green", "starting": "green", "stopping": "yellow", "paused": "yellow", "queued": "cyan",
    "held": "magenta", "draft": "magenta", "failed": "red", "unknown": "bold red", "cancelled": "dim",
    "succeeded": "dim",
}  # fmt: skip
MOST_NAMES = 20  # characters of a list of GPUs or jobs; a longer one is counted
LEAST_HELD_S = 36  # a hundredth of an hour
QUARTER_S = 900  # days end at a multiple of this in every time zone
# The jobs of a queue start in few different minutes, so each is formatted once.
_clocks: dict[tuple[str, int], str] = {}


def state_words(job: Job) -> str:
    """`failed (exit 3)`; `failed (SIGSEGV)`; `failed (oom-gpu)`; `unknown (reboot)`; otherwise the state alone."""
    if job.state == "unknown" and job.reason == "reboot":
        return "unknown (reboot)"
    if job.state != "failed":
        return job.state
    if job.reason in {"signal", None} and job.signal is not None:
        return f"failed ({signal_name(job.signal)})"
    if job.reason in {"exit", None} and job.exit_code is not None:
        return f"failed (exit {job.exit_code})"
    return f"failed ({job.reason or 'unknown reason'})"


def state_and_attempt(job: Job) -> str:
    """With the attempt it is at, or waits for: `running 2/4`; `running, attempt 2` if it was preempted or requeued.

    Stale: it may have changed since, but its agent does not answer, or nothing can be written.
    """
    number, words = attempt_number(job), state_words(job)
    if job.attempts_max is not None and number > (job.state in ENDED):
        words = f"{words} {number}/{job.attempts_max}"
    elif number > 1 and job.state not in ENDED:
        words = f"{words}, attempt {number}"
    return words if job.stale_s is None else f"{words}, stale"


def attempt_number(job: Job) -> int:
    """The number of the current attempt, or of the next one while the job waits."""
    attempt = job.attempt or 0
    return attempt + 1 if job.state in {"queued", "held"} else attempt


def command_of(job: Job) -> str:
    return shown_command(job.command or ())


def gpus(job: Job) -> str:
    """The GPUs it has, with ? for a GPU that lost its index; in brackets the number it waits for."""
    if job.gpus:
        known = [gpu["name"] for gpu in job.gpus if gpu["index"] is not None]
        names = ",".join(gpu_spans(known) + ["?"] * (len(job.gpus) - len(known)))
        return names if len(names) <= MOST_NAMES else f"{len(job.gpus)} GPUs"
    return f"({job.gpus_asked})" if job.gpus_asked and job.state not in ENDED else "-"


def elapsed(job: Job) -> str:
    """How long it ran, or has been running."""
    return "-" if job.elapsed_s is None else duration(job.elapsed_s)


def progress(value: Progress | None) -> tuple[str, str]:
    """How much is done, and how long the rest will take."""
    if not value or value.get("fraction") is None:
        return "", ""
    left = value.get("eta_s")
    return f"{value['fraction']:.0%}", "" if left is None else duration(left)


def starts(job: Job, now: float) -> str:
    """`waits for 7`, `at 22:00`, an estimate: `~14:30`, or `from 22:00` if it is not known when after that.

    `~14:30*` if the estimate rests on the progress of running jobs; `retry in 40s` between two attempts.
    """
    if job.state != "queued":
        return ""
    if job.waits_for:
        numbers = spans(job.waits_for)
        return f"waits for {numbers}" if len(numbers) <= MOST_NAMES else f"waits for {len(job.waits_for)} jobs"
    raw = job.raw
    if raw.get("retry_at") is not None and epoch(raw["retry_at"]) > now:
        return f"retry in {duration(epoch(raw['retry_at']) - now)}"
    begin, estimate = raw.get("begin_at"), raw.get("estimated_start")
    if begin is not None and epoch(begin) > now and estimate in {None, begin}:
        return f"{'from' if estimate is None else 'at'} {_clock(begin, now)}"
    if estimate is None:
        return ""
    mark = "*" if "progress" in (raw.get("estimate_rests_on") or ()) else ""
    return f"~{_clock(estimate, now)}{mark}"


def _clock(moment: str, now: float) -> str:
    key = (moment[:16], int(now) // QUARTER_S)
    words = _clocks.get(key)
    if words is None:
        words = _clocks[key] = clock(epoch(moment), now)
    return words


def place_in_queue(job: Job) -> Iterator[tuple[str, str]]:
    """What decides when it runs, besides its options."""
    if job.position is not None:
        yield "place", f"{job.position:,} of its owner's waiting jobs"
    if job.held_by:
        yield "held", safe(f"by {job.held_by}; `tarmac release {job.id}` releases it")
    if job.group is not None:
        limit = f", at most {job.max_running} at once" if job.max_running else ""
        place = "" if job.index is None else f", index {job.index}"
        yield "group", f"{job.group}{place}{limit}"
    if job.params:
        yield "params", safe(" ".join(f"{name}={value}" for name, value in job.params.items()))
    if job.after:
        yield "after", ", ".join(map(str, job.after))


def used(job: Job) -> str:
    """Peak memory beside what was reserved, average load and energy, as far as they are known."""
    parts = []
    if job.peak_gpu_memory_bytes:
        parts.append(_memory(job, job.peak_gpu_memory_bytes))
    if job.utilization is not None:
        parts.append(f"GPUs {job.utilization:.0f}% busy on average")
    if job.energy_j:
        parts.append(energy(job.energy_j))
    if job.held_gpu_s and job.held_gpu_s >= LEAST_HELD_S:
        parts.append(f"{job.held_gpu_s / HOUR_S:,.2f} GPU-hours")
    return ", ".join(parts)


def _memory(job: Job, peak: int) -> str:
    if not job.reserved_gpu_memory_bytes:
        return f"at most {size(peak)} of GPU memory"
    return f"at most {size(peak)} of the {size(job.reserved_gpu_memory_bytes)} reserved on each GPU"


def energy(joules: float) -> str:
    watt_hours = joules / 3600
    if watt_hours < 1:
        return f"{joules:.0f} J"
    return f"{watt_hours:.1f} Wh" if watt_hours < 1000 else f"{watt_hours / 1000:.1f} kWh"
