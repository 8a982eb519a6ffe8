"""`tarmac add`: queue a command, print its id and nothing else."""

from __future__ import annotations

from tarmac.cli.grammar import JSON, Verb
from tarmac.cli.session import connect
from tarmac.cli.submit import JOB_OPTIONS, submit
from tarmac.cli.terminal import err, out, out_json, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.grammar import Values


def run(values: Values, words: list[str]) -> int:
    job = submit(connect(), "add", values, words)
    try:
        out_json({"id": job}) if values["json"] else out(f"{job}\n")
    except OSError:
        err(f"tarmac: job {job} is queued\n")  # the one thing that must not go unsaid
        raise
    say(f"queued; `tarmac log -f {job}` follows its output, `tarmac` lists all jobs")
    return 0


VERB = Verb(
    "add",
    "queue a command; prints the job's id",
    usage=("tarmac add [options] [--] COMMAND [ARG…]", "tarmac add [options] -c 'SHELL STRING'"),
    run=run,
    options=(*JOB_OPTIONS, JSON),
    is_prefix=True,
    examples=(
        ("tarmac add python train.py --lr 0.1", "one GPU, this folder, this environment"),
        ("tarmac add -g 2 -n big torchrun --nproc-per-node 2 train.py", "two GPUs, a name"),
        ("tarmac add -c 'python prepare.py && python train.py'", "a shell string"),
        ("tarmac add --gpu-mem 8G python small.py", "shares its GPU with others that say how much they take"),
        ("tarmac add -g 0 --log eval.log ./evaluate", "no GPU, output to a file here"),
    ),
    notes=("Options of Tarmac stand before the command; what follows its first word is the command's own.",),
)
