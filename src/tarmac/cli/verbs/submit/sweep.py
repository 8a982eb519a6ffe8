"""`tarmac sweep`: queue a command once for each combination of parameters."""

from __future__ import annotations

from tarmac.cli.args.default_files import with_defaults
from tarmac.cli.args.job_options import TEMPLATE, options_of, send
from tarmac.cli.files.sweep_rows import read_rows
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, out, out_json, say
from tarmac.cli.verbs.submit.add import print_ids
from tarmac.errors import TarmacError, UserError
from tarmac.typed.requests import entry_of
from tarmac.typed.sweep.jobs import group_of, refuse_seed_alone, requests_of, rows_of, template_of
from tarmac.typed.sweep.options import refuse_secrets, sweep_options
from tarmac.typed.sweep.template import in_words
from tarmac.typed.values import group_name, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.typed.requests import Body

    Row = dict[str, str]


def run(values: Values, words: list[str]) -> int:
    values = with_defaults(connect(), values)
    template, parameters = template_of(values, words)
    listed = [{}] if values["from"] is None else read_rows(values["from"])
    _choose_seed(values)
    rows = rows_of(values, template, parameters, listed)
    refuse_secrets(values, rows)
    client = connect()
    requests = requests_of(values, template, rows, client.number_of)
    try:
        ids = send(client, values, requests, group_of(values, words), entry_of("sweep", values))
    except TarmacError as error:
        raise _placed(error, rows) from None
    if values["dry_run"]:
        return _print_requests(values, requests)
    print_ids({"group": ids[0], "ids": ids}, ids, is_json=values["json"])
    say(f"{len(ids):,} jobs; `tarmac ls --group {ids[0]}` lists them, `tarmac results {ids[0]}` compares them")
    return 0


def _placed(error: TarmacError, rows: list[Row]) -> TarmacError:
    """The controller's refusal, with the values of the first job that it refused, if it accepts others."""
    if not error.jobs or len(error.jobs) == len(rows):
        return error
    first, others = error.jobs[0], len(error.jobs) - 1
    more = f" and {others:,} more" if others else ""
    return UserError(f"sweep: {first['message']} (the job with {in_words(rows[first['index']])}{more})", first["hint"])


def _choose_seed(values: Values) -> None:
    """Choose and print a seed for a sample without one, so that the sample can be repeated."""
    refuse_seed_alone(values)
    if values["sample"] is not None and values["seed"] is None:
        from os import urandom

        values["seed"] = int.from_bytes(urandom(3), "big")
        err(f"tarmac: sampled with --seed {values['seed']}\n")


def _print_requests(values: Values, requests: list[Body]) -> int:
    """What would be queued: how each command is split into words, and its options."""
    if values["json"]:
        out_json(requests)
        return 0
    from tarmac.cli.render.requests import described

    out("".join(f"{described(request)}\n" for request in requests))
    say(f"{len(requests):,} jobs; nothing was queued")
    return 0


VERB = Verb(
    "sweep",
    "queue a command for each combination of parameters",
    usage=(
        "tarmac sweep [options] 'COMMAND {NAME} …' NAME=VALUES…",
        "tarmac sweep [options] -c 'SHELL STRING {NAME}' NAME=VALUES…",
    ),
    run=run,
    options=(
        Option("--zip", None, "combine the first values, then the second values, and so on"),
        Option("--from", None, "read rows of values: .csv, .tsv, .json, .jsonl, .yaml, or - for stdin", "FILE"),
        Option("--where", None, "keep only some combinations: 'lr < 1e-3 or seed == 1'", "CONDITION"),
        Option("--sample", None, "queue only N of them, chosen at random", "N", positive),
        Option("--seed", None, "choose the same sample again", "K", positive),
        Option("--group", None, "name the sweep, for filters (default: --name)", "NAME", group_name),
        Option("--dry-run", None, "check the jobs, print each with its options, and queue nothing"),
        *sweep_options(options_of("add")),
        TEMPLATE,
        JSON,
    ),
    examples=(
        ("tarmac sweep 'python train.py --lr {lr} --seed {seed}' lr=1e-3,3e-4 seed=1..5", "10 jobs"),
        ("tarmac sweep './fit {x}' x=0..1..0.25 --max-running 8", "0, 0.25, 0.5, 0.75 and 1; at most 8 at once"),
        ("tarmac sweep --zip './fit {a} {b}' a=1,2 b=x,y", "2 jobs: 1 x and 2 y"),
        ("tarmac sweep './fit {lr} {bs}' --from params.csv --dry-run", "print a job for each row of a file"),
        ("tarmac sweep './fit {a} {b}' a=1..9 b=1..9 --where 'a < b' --sample 20 --seed 7", "20 of 36 combinations"),
        ("tarmac sweep './fit {lr}' lr=1e-3,3e-4 --name 'lr{lr}' --log 'out/{name}-{id}.log'", "options, filled in"),
    ),
    notes=(
        "The command is split into words before values are filled in, so each value is exactly one argument.",
        "Every option may contain {NAME}; --log, --stdout and --stderr also {name} and {id} of the job.",
        "An empty value drops its argument, and the flag before it. Write {{ and }} for braces.",
    ),
    lacks={"--array": ("is not for sweeps", "use a parameter for the index: './fit {i}' i=0..99")},
)
