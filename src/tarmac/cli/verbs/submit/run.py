"""`tarmac run`: queue a command, show its output, exit with its code. The job does not depend on this process.

Ctrl-C asks the job to stop; a second Ctrl-C, or closing the terminal, detaches from it.
"""

from __future__ import annotations

import os

from tarmac.cli.args.default_files import with_defaults
from tarmac.cli.args.job_options import TEMPLATE, options_of, submit
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.verdict import tell_use
from tarmac.cli.session import connect
from tarmac.cli.term import signals
from tarmac.cli.term.notices import tell
from tarmac.cli.term.terminal import err, err_bytes, out_bytes, out_json, say
from tarmac.errors import NotFound, TarmacError, Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.records import Job

INTERRUPTED = 130


def run(values: Values, words: list[str]) -> int:
    client = connect()
    values = with_defaults(client, values)
    offset = _bytes_before(values) if client.remote is None else 0
    job = submit(client, "run", values, words)[0]
    interrupt = _Interrupt(client, job)
    signals.on(signals.SIGINT, interrupt)
    _tell_why_it_waits(client, job)
    client.on_trouble = None  # a notice says it
    show = err_bytes if values["json"] else out_bytes
    try:
        for data in client.logs(job, follow=True, from_attempt=1, offset=offset, on_notice=tell):
            show(data)
    except (NotFound, Unavailable) as error:
        if isinstance(error, Unavailable) and error.key != "log.silent":
            raise
        err(f"tarmac: {error.message}\n")  # its log is missing or unreadable; still wait for its end
    from tarmac.client.follow import ended_jobs

    ended = next(ended_jobs(client, [job], on_notice=tell))
    if values["json"]:
        out_json(client.job(job).raw)
    else:
        tell_use(client, ended)
    return _outcome(ended, client, was_interrupted=interrupt.is_asked)


def _bytes_before(values: Values) -> int:
    """The size of a log that the job appends to, before the job starts."""
    path = values["log"] or values["stdout"]
    try:
        return os.stat(os.path.join(values["cwd"] or "", path)).st_size if path and values["append"] else 0
    except OSError:
        return 0  # it does not exist yet; the submit reports any other problem


class _Interrupt:
    """Handles Ctrl-C. The handler sends the request, while the main loop reads the log until the job has ended."""

    def __init__(self, client: Client, job: int) -> None:
        self.client = client
        self.job = job
        self.is_asked = False

    def __call__(self, _: int) -> None:
        if self.is_asked:
            err(f"\ntarmac: detached from job {self.job}; run `tarmac show {self.job}` to see how it ends\n")
            if self.client.remote is not None:
                self.client.remote.end()
            os._exit(INTERRUPTED)
        self.is_asked = True
        err(f"\ntarmac: asking job {self.job} to stop; press Ctrl-C again to detach\n")
        try:
            self.client.kill(self.job)
        except TarmacError as error:
            err(f"tarmac: {error.message}; run `tarmac kill {self.job}` to try again\n")


def _tell_why_it_waits(client: Client, job: int) -> None:
    from tarmac.cli.term.terminal import STDERR, is_terminal

    if is_terminal(STDERR):
        now = client.job(job)
        if now.state == "queued":
            reason = now.reason or "it is not its turn"
            say(f"job {job} waits: {reason.removeprefix('waits ')}")


def _outcome(job: Job, client: Client, *, was_interrupted: bool) -> int:
    if job.state == "failed" and job.reason in {"launch", "dependency"}:
        message = client.job(job.id).message
        what = "could not be started" if job.reason == "launch" else "will never run"
        err(f"tarmac: job {job.id} {what}: {message}\n")
    elif job.state == "failed" and job.reason == "timeout":
        err(f"tarmac: job {job.id} was stopped: it reached its time limit (--time)\n")
    elif job.state == "unknown":
        err(f"tarmac: it is unknown how job {job.id} ended; run `tarmac show {job.id}` to see what is known\n")
    elif job.state == "cancelled" and not was_interrupted:
        err(f"tarmac: job {job.id} was cancelled\n")
    never_ran = job.exit_code is None and job.signal is None
    return INTERRUPTED if was_interrupted and never_ran else job.exit_status


VERB = Verb(
    "run",
    "queue a command, show its output, exit with its code",
    usage=("tarmac run [options] [--] COMMAND [ARG…]", "tarmac run [options] -c 'SHELL STRING'"),
    run=run,
    options=(*options_of("run"), TEMPLATE, JSON),
    is_prefix=True,
    lacks={
        "--array": (
            "starts many jobs, but `run` shows the output of one",
            "use `tarmac add --array …`, then `tarmac wait`",
        ),
        "--max-running": ("is for arrays, but `run` starts one job", "use `tarmac add --array …`"),
        "--hold": ("would make `run` wait for a release", "use `tarmac add --hold …`"),
        "--draft": ("does not run yet, but `run` waits for the end", "use `tarmac add --draft …`"),
    },
    examples=(
        ("tarmac run pytest tests/gpu", "in a script: exits with the code of pytest"),
        ("tarmac run -g 0 -c 'nproc; free -h'", "a shell string that needs no GPU"),
        ("tarmac run --retry 2 --time 1h python eval.py", "show the output of each attempt"),
        ("tarmac run --json ./train 2>/dev/null | jq .exit_code", "the output on stderr, then the job as JSON"),
    ),
    notes=(
        "Ctrl-C asks the job to stop; a second Ctrl-C detaches from it. The job continues when the terminal closes.",
        "If signal N ended the job, the exit code is 128 + N; if it never started, 1, and stderr says why.",
    ),
)
