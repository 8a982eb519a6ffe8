"""`tarmac simulate`: what would have become of these jobs under another policy, or on other machines."""

from __future__ import annotations

from tarmac.cli.args.values import count, size
from tarmac.cli.parser import Option, Verb
from tarmac.cli.term.terminal import out, out_json, say, width
from tarmac.cli.verbs.simulate import picture_file
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.sim.comparison import Scenario
    from tarmac.sim.machines import Machine
    from tarmac.sim.trace import TraceJob

MADE_UP = "synthetic:"
MOST_MADE_UP = 1_000_000


def run(values: Values, _: list[str]) -> int:
    trace, machines = _asked(values)
    from tarmac.cli.verbs.simulate.table import tables, title_of

    title = title_of(trace, machines)
    scenarios = _played(values, trace, machines)
    if values["json"]:
        from tarmac.sim.comparison import as_data

        out_json([as_data(scenario) for scenario in scenarios])
    else:
        out("\n".join([title, "", *tables(scenarios, width())]) + "\n")
    if values["svg"] is not None:
        from tarmac.sim.chart import picture

        picture_file.write(values["svg"], picture(scenarios, title))
    return 0


def _asked(values: Values) -> tuple[list[TraceJob], list[Machine]]:
    """Everything that can be wrong with the question is said before anything is simulated."""
    if bool(values["trace"]) == values["from_history"]:
        raise UserError("simulate: which jobs?", "--trace FILE, --trace synthetic:1000 or --from-history, one of them")
    if values["seed"] is not None and not (values["trace"] or "").startswith(MADE_UP):
        raise UserError("simulate: --seed is for made-up traces; with any other nothing is left to chance")
    if values["svg"] is not None:
        picture_file.check(values["svg"])
    host = {"cpus": values["cpus"] or 0, "memory_bytes": values["mem"] or 0}
    if values["from_history"]:
        from tarmac.cli.session import connect
        from tarmac.cli.verbs.simulate.past import machines_here, past_trace

        client = connect()
        machines = machines_here(client, **host) if values["nodes"] is None else _machines(values["nodes"], host)
        return past_trace(client), machines
    if values["nodes"] is None:
        raise UserError("simulate: on which machines?", "--nodes 4x8 is four with 8 GPUs each")
    machines = _machines(values["nodes"], host)
    return _trace(values["trace"], machines, values["seed"]), machines


def _machines(word: str, host: dict[str, int]) -> list[Machine]:
    from tarmac.cli.verbs.simulate.nodes import machines

    try:
        return machines(word, **host)
    except ValueError as error:
        raise UserError(f"simulate: --nodes {word}: {error}") from None


def _trace(word: str, machines: list[Machine], seed: int | None) -> list[TraceJob]:
    if word.startswith(MADE_UP):
        from tarmac.sim.synthetic import made_up

        return made_up(_made_up_jobs(word), machines, seed or 0)
    from tarmac.cli.verbs.simulate.trace_file import read_trace

    return read_trace(word)


def _made_up_jobs(word: str) -> int:
    number = word.removeprefix(MADE_UP)
    jobs = int(number) if number.isdecimal() and number.isascii() and len(number) < 8 else 0
    if not 1 <= jobs <= MOST_MADE_UP:
        raise UserError(f"simulate: --trace {word}: it must be from 1 to {MOST_MADE_UP:,} jobs, as in synthetic:1000")
    return jobs


def _played(values: Values, trace: list[TraceJob], machines: list[Machine]) -> list[Scenario]:
    from tarmac.sim.comparison import ALL_POLICIES, label_of, played

    scenarios = []
    for policy in values["policy"] or ALL_POLICIES:
        for is_backfilling in (True, False) if values["no_backfill"] else (True,):
            say(f"simulating {label_of(policy, is_backfilling=is_backfilling)} …")
            scenarios.append(played(trace, machines, policy, is_backfilling=is_backfilling))
    return scenarios


def _policies(word: str) -> list[str]:
    from tarmac.shared.names import POLICIES

    names = list(dict.fromkeys(name.strip() for name in word.split(",")))
    if not set(names) <= set(POLICIES):
        raise ValueError(f"it must be of {', '.join(POLICIES)}")
    return names


VERB = Verb(
    "simulate",
    "what if: the same jobs under other policies or on other machines",
    usage=("tarmac simulate --trace FILE --nodes 4x8 [options]", "tarmac simulate --from-history [options]"),
    run=run,
    takes_words=False,
    options=(
        Option("--trace", None, "jobs as CSV (- is stdin), or synthetic:N to make N up", "FILE"),
        Option("--from-history", None, "the jobs that have ended here, instead of a trace"),
        Option("--nodes", None, "4x8, or 2x8:80G:H100,4x4:24G with memory and model", "NODES"),
        Option("--cpus", None, "processors of each node; not counted unless given", "N", count),
        Option("--mem", None, "memory of each node; not counted unless given", "SIZE", size),
        Option("--policy", None, "of fifo, balance, fairshare; all unless given", "NAME,…", _policies),
        Option("--no-backfill", None, "each policy once more without backfill"),
        Option("--seed", None, "another made-up trace (0)", "N", count),
        Option("--svg", None, "draw the comparison into this file", "FILE"),
        Option("--json", None, "print every figure as JSON"),
    ),
    examples=(
        ("tarmac simulate --trace jobs.csv --nodes 4x8", "all policies side by side"),
        ("tarmac simulate --trace jobs.csv --nodes 4x8 --no-backfill", "what backfill is worth"),
        ("tarmac simulate --from-history --nodes 1x8", "your past, with 8 GPUs"),
        ("tarmac simulate --trace synthetic:1000 --nodes 4x8 --svg a.svg", "made-up jobs, and a picture"),
    ),
    notes=(
        "Columns of a trace: submit_s, owner, gpus, duration_s. If you like: limit_s,",
        "name, project, tier, priority, gpu_memory, gpu_share, gpu_model,",
        "min_gpu_memory, cpus, memory.",
        "Nothing is started, and nothing is written but what --svg names.",
    ),
)
