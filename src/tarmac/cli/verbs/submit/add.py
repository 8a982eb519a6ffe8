"""`tarmac add`: queue a command, print its id and nothing else."""

from __future__ import annotations

from tarmac.cli.args.default_files import with_defaults
from tarmac.cli.args.job_options import TEMPLATE, options_of, submit
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_json, say
from tarmac.errors import Unavailable, UserError
from tarmac.typed.requests import request_of
from tarmac.typed.values import group_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    if len(values["batch"]) > 1:
        raise UserError("add: --batch is given twice", "give one file; queue the others with another `tarmac add`")
    if values["batch"]:
        return _batch({**values, "batch": values["batch"][0]}, words)
    if values["batch_format"] is not None:
        raise UserError("add: --batch-format needs --batch", "give the file: --batch jobs.csv")
    if values["group"] is not None and values["array"] is None:
        raise UserError("add: --group needs --array or --batch", "name a single job with --name")
    client = connect()
    values = with_defaults(client, values)
    ids = submit(client, "add", values, words)
    if values["dry_run"]:
        return _describe(values, words)
    return report(values, ids)


def _describe(values: Values, words: list[str]) -> int:
    from tarmac.cli.render.requests import array_text, described

    request: dict[str, Any] = {**request_of("add", values, words)}
    array, line = values["array"], described(request)
    if array is not None:
        most = array.max_running or request.get("max_running")
        request |= {"array": array.text, "max_running": most}
        line += f"\n{array_text(array.text, most)}"
    out_json(request) if values["json"] else out(f"{line}\n")
    return 0


def _batch(values: Values, words: list[str]) -> int:
    from tarmac.cli.batch.submit import submit_batch

    client = connect()
    values = with_defaults(client, values)
    jobs, ids = submit_batch(client, values, words)
    if not values["dry_run"]:
        return report(values, ids)
    if values["json"]:
        out_json([{"line": job.entry.line, **job.request} for job in jobs])
        return 0
    from tarmac.cli.render.requests import described

    wide = len(str(jobs[-1].entry.line))
    out("".join(f"{job.entry.line:>{wide}}  {described(job.request)}\n" for job in jobs))
    return 0


def report(values: Values, ids: list[int]) -> int:
    """Print the ids, and what to do next."""
    named = print_ids({"id": ids[0], "ids": ids}, ids, is_json=values["json"])
    say(_what_next(values, named, len(ids)))
    return 0


def print_ids(record: dict[str, Any], ids: list[int], *, is_json: bool) -> str:
    """Print the record as JSON, or the ids as one word. Returns the word."""
    named = str(ids[0]) if len(ids) == 1 else f"{ids[0]}-{ids[-1]}"  # consecutive, because one submit made them
    try:
        if is_json:
            out_json(record)
        else:
            out(f"{named}\n")
    except (OSError, Unavailable):
        queued = f"job {named} is queued" if len(ids) == 1 else f"jobs {named} are queued"
        err(f"tarmac: {queued}\n")  # the user must learn this even if stdout failed
        raise
    return named


def _format(word: str) -> str:
    from tarmac.typed.batch.source import format_named

    return format_named(word)


def _what_next(values: Values, named: str, number: int) -> str:
    if values["hold"] or values["draft"]:
        return f"{'saved as a draft' if values['draft'] else 'held'}; `tarmac release {named}` queues it"
    if number > 1:
        return f"{number:,} jobs queued; `tarmac ls {named}` lists them"
    return f"queued; `tarmac log -f {named}` follows its output"


VERB = Verb(
    "add",
    "queue a command; prints the job's id",
    usage=(
        "tarmac add [options] [--] COMMAND [ARG…]",
        "tarmac add [options] -c 'SHELL STRING'",
        "tarmac add [options] --batch FILE",
    ),
    run=run,
    options=(
        *options_of("add"),
        Option("--batch", None, "queue every job of this file, or none of them; - is stdin", "FILE", has_many=True),
        Option(
            "--batch-format", None, "lines, shell, csv, jsonl or gpupeasy (default: as it looks)", "FORMAT", _format
        ),
        Option("--group", None, "name the array or the batch, for filters (default: --name)", "NAME", group_name),
        TEMPLATE,
        Option("--dry-run", None, "check the jobs and show how they are read; queue nothing"),
        JSON,
    ),
    is_prefix=True,
    examples=(
        ("tarmac add python train.py --lr 0.1", "one GPU, the current directory and environment"),
        ("tarmac add -g 2 -n big torchrun --nproc-per-node 2 train.py", "two GPUs and a name"),
        ("tarmac add --nodes 2 -g 8 torchrun train.py", "eight GPUs on each of two nodes, all at once"),
        ("tarmac add -c 'python prepare.py && python train.py'", "a shell string"),
        ("tarmac add --gpu-mem 8G python small.py", "share the GPU with jobs that also reserve memory"),
        ("tarmac add --gpu-mem auto -n eval python eval.py", "reserve what earlier jobs named eval used"),
        ("tarmac add -g 0 --log eval.log ./evaluate", "no GPU; write the output to a file"),
        ("tarmac add --time 6h --after last python eval.py", "at most 6 hours, after your newest job has succeeded"),
        ("tarmac add --array 0-99 --max-running 8 ./trial.sh", "100 copies, at most 8 at once; prints the ids: 7-106"),
        ("tarmac add --retry 3 --on-oom grow python train.py", "retry it if it fails; with more memory if it ran out"),
        (
            "tarmac add --time 6h --signal B:USR1@120 --requeue python resume.py",
            "warn it 2 minutes before its limit; queue it again",
        ),
        ("tarmac add --notify mail --on fail python train.py", "send a message if it fails"),
        ("tarmac add --fill ./train --devices {gpus} --port {port}", "pass its GPUs and a free port as arguments"),
        ("tarmac add --time 6h --batch jobs.csv", "a job for each row; its columns are named as the options"),
        ("tarmac add --begin 22:00 --tier preemptible ./long.sh", "tonight; other jobs may preempt it"),
    ),
    notes=("Put Tarmac's options before the command; everything after its first word belongs to the command.",),
)
