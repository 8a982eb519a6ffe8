"""`tarmac add`: queue a command, print its id and nothing else."""

from __future__ import annotations

from tarmac.cli.args.job_options import options_of, submit
from tarmac.cli.parser import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    ids = submit(connect(), "add", values, words)
    named = str(ids[0]) if len(ids) == 1 else f"{ids[0]}-{ids[-1]}"  # consecutive, because one submit made them
    try:
        if values["json"]:
            out_json({"id": ids[0], "ids": ids})
        else:
            out(f"{named}\n")
    except OSError:
        err(f"tarmac: job {named} is queued\n")  # the user must learn this even if stdout failed
        raise
    say(_what_next(values, named, len(ids)))
    return 0


def _what_next(values: Values, named: str, number: int) -> str:
    if values["hold"] or values["draft"]:
        return f"{'saved as a draft' if values['draft'] else 'held'}; `tarmac release {named}` queues it"
    if number > 1:
        return f"{number:,} jobs queued; `tarmac ls {named}` lists them"
    return f"queued; `tarmac log -f {named}` follows its output"


VERB = Verb(
    "add",
    "queue a command; prints the job's id",
    usage=("tarmac add [options] [--] COMMAND [ARG…]", "tarmac add [options] -c 'SHELL STRING'"),
    run=run,
    options=(*options_of("add"), JSON),
    is_prefix=True,
    examples=(
        ("tarmac add python train.py --lr 0.1", "one GPU, the current directory and environment"),
        ("tarmac add -g 2 -n big torchrun --nproc-per-node 2 train.py", "two GPUs and a name"),
        ("tarmac add -c 'python prepare.py && python train.py'", "a shell string"),
        ("tarmac add --gpu-mem 8G python small.py", "share the GPU with jobs that also reserve memory"),
        ("tarmac add -g 0 --log eval.log ./evaluate", "no GPU; write the output to a file"),
        ("tarmac add --time 6h --after last python eval.py", "at most 6 hours, after your newest job has succeeded"),
        ("tarmac add --array 0-99 --max-running 8 ./trial.sh", "100 copies, at most 8 at once; prints the ids: 7-106"),
        ("tarmac add --retry 3 --on-oom grow python train.py", "retry failures; with more memory if it ran out"),
        ("tarmac add --time 6h --signal B:USR1@120 --requeue python resume.py", "warn before the limit; then continue"),
        ("tarmac add --notify mail --on fail python train.py", "send a message if it fails"),
        ("tarmac add --begin 22:00 --tier preemptible ./long.sh", "tonight; other jobs may preempt it"),
    ),
    notes=("Put Tarmac's options before the command; everything after its first word belongs to the command.",),
)
