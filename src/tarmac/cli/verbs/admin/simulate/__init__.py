"""`tarmac simulate`: replay jobs under another policy or on other machines."""

from __future__ import annotations

from tarmac.cli.parser import Option, Verb
from tarmac.cli.term.terminal import err, out, out_json, say, width
from tarmac.cli.verbs.admin.simulate import picture_file
from tarmac.errors import UserError
from tarmac.typed.values import count, duration, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.sim.comparison import Scenario
    from tarmac.sim.machines import Machine
    from tarmac.sim.past import PastRun
    from tarmac.sim.trace import TraceJob

MADE_UP = "synthetic:"
MOST_MADE_UP = 1_000_000


def run(values: Values, _: list[str]) -> int:
    trace, machines, past = _asked(values)
    from tarmac.cli.verbs.admin.simulate.table import tables, title_of

    title = title_of(trace, machines)
    scenarios = _compared(values, trace, machines, past)
    if values["json"]:
        from tarmac.sim.comparison import as_data

        out_json([as_data(scenario) for scenario in scenarios])
    else:
        out("\n".join([title, "", *tables(scenarios, width())]) + "\n")
    if values["svg"] is not None:
        from tarmac.sim.chart import MOST_DRAWN, picture

        picture_file.write(values["svg"], picture(scenarios, title))
        if len(scenarios) > MOST_DRAWN:
            err(f"tarmac: the chart shows the first {MOST_DRAWN} of {len(scenarios)} rows\n")
    return 0


def _asked(values: Values) -> tuple[list[TraceJob], list[Machine], list[PastRun]]:
    """Refuse wrong options before anything is simulated."""
    if bool(values["trace"]) == values["from_history"]:
        raise UserError("simulate: no jobs given", "use one of --trace FILE, --trace synthetic:1000 and --from-history")
    if values["seed"] is not None and not (values["trace"] or "").startswith(MADE_UP):
        raise UserError("simulate: --seed applies only to generated traces (--trace synthetic:1000)")
    if values["last"] is not None and not values["from_history"]:
        raise UserError("simulate: --last applies only to --from-history")
    if values["svg"] is not None:
        picture_file.check(values["svg"])
    host = {"cpus": values["cpus"] or 0, "memory_bytes": values["mem"] or 0}
    if values["from_history"]:
        from tarmac.cli.session import connect
        from tarmac.cli.verbs.admin.simulate.past import history, machines_here

        client = connect()
        machines = machines_here(client, **host) if values["nodes"] is None else _machines(values["nodes"], host)
        found = history(client, values["last"])
        return found.trace, machines, found.past
    if values["nodes"] is None:
        raise UserError("simulate: no machines given", "use --nodes 4x8 for four nodes with 8 GPUs each")
    machines = _machines(values["nodes"], host)
    return _trace(values["trace"], machines, values["seed"]), machines, []


def _machines(word: str, host: dict[str, int]) -> list[Machine]:
    from tarmac.cli.verbs.admin.simulate.nodes import machines

    try:
        return machines(word, **host)
    except ValueError as error:
        raise UserError(f"simulate: --nodes {word}: {error}") from None


def _trace(word: str, machines: list[Machine], seed: int | None) -> list[TraceJob]:
    if word.startswith(MADE_UP):
        from tarmac.sim.synthetic import made_up

        return made_up(_made_up_jobs(word), machines, seed or 0)
    from tarmac.cli.verbs.admin.simulate.trace_file import read_trace

    return read_trace(word)


def _made_up_jobs(word: str) -> int:
    number = word.removeprefix(MADE_UP)
    jobs = int(number) if number.isdecimal() and number.isascii() and len(number) < 8 else 0
    if not 1 <= jobs <= MOST_MADE_UP:
        raise UserError(f"simulate: --trace {word}: it must be from 1 to {MOST_MADE_UP:,} jobs, as in synthetic:1000")
    return jobs


def _compared(values: Values, trace: list[TraceJob], machines: list[Machine], past: list[PastRun]) -> list[Scenario]:
    from tarmac.sim.comparison import ALL_POLICIES, DEFAULT_ORDER, Variant, compare
    from tarmac.sim.limits import DEFAULT_LIMITS

    variants = [
        Variant(policy=policy, is_backfilling=is_backfilling, order=order, limits=limits)
        for policy in values["policy"] or ALL_POLICIES
        for is_backfilling in ((True, False) if values["no_backfill"] else (True,))
        for order in values["order"] or DEFAULT_ORDER
        for limits in values["limits"] or DEFAULT_LIMITS
    ]
    return compare(trace, machines, variants, lambda label: say(f"simulating {label} …"), past)


def _policies(word: str) -> list[str]:
    from tarmac.shared.names import POLICIES

    return _names(word, POLICIES)


def _orders(word: str) -> list[str]:
    from tarmac.shared.names import ORDERS

    return _names(word, ORDERS)


def _limits(word: str) -> list[str]:
    from tarmac.sim.limits import ALL_LIMITS

    return _names(word, ALL_LIMITS)


def _names(word: str, known: tuple[str, ...]) -> list[str]:
    """Some of the known names, each once, separated by commas."""
    names = list(dict.fromkeys(name.strip() for name in word.split(",")))
    if not set(names) <= set(known):
        raise ValueError(f"it must be one or more of {', '.join(known)}")
    return names


VERB = Verb(
    "simulate",
    "replay jobs under other policies or on other machines",
    usage=("tarmac simulate --trace FILE --nodes 4x8 [options]", "tarmac simulate --from-history [options]"),
    run=run,
    takes_words=False,
    options=(
        Option("--trace", None, "jobs as CSV (- for stdin), or synthetic:N to generate N jobs", "FILE"),
        Option("--from-history", None, "use the jobs that have ended here instead of a trace"),
        Option("--last", None, "with --from-history: only jobs submitted in this time: 7d", "DURATION", duration),
        Option("--nodes", None, "nodes x GPUs: 4x8, or with memory and model: 2x8:80G:H100,4x4:24G", "NODES"),
        Option("--cpus", None, "CPU cores of each node (default: unlimited)", "N", count),
        Option("--mem", None, "memory of each node (default: unlimited)", "SIZE", size),
        Option("--policy", None, "one or more of fifo, balance, fairshare (default: all)", "NAME,…", _policies),
        Option("--order", None, "order of each owner's jobs: submitted (default), expected", "NAME,…", _orders),
        Option(
            "--limits",
            None,
            "time limits of the jobs: as-given (default), none, x2 (twice the duration)",
            "NAME,…",
            _limits,
        ),
        Option("--no-backfill", None, "also run each policy without backfill"),
        Option("--seed", None, "seed of the generated trace (default 0)", "N", count),
        Option("--svg", None, "write a chart to this file", "FILE"),
        Option("--json", None, "print all figures as JSON"),
    ),
    examples=(
        ("tarmac simulate --trace jobs.csv --nodes 4x8", "all policies side by side"),
        ("tarmac simulate --trace jobs.csv --nodes 4x8 --no-backfill", "with and without backfill"),
        ("tarmac simulate --trace jobs.csv --nodes 4x8 --limits as-given,none", "with and without time limits"),
        ("tarmac simulate --from-history --nodes 1x8", "your own history on 8 GPUs"),
        ("tarmac simulate --trace synthetic:1000 --nodes 4x8 --svg a.svg", "generated jobs, with a chart"),
    ),
    notes=(
        "Columns of a trace: submit_s, owner, gpus, duration_s. Optional: limit_s, factor",
        "(the limit as a multiple of duration_s), name, project, tier, priority,",
        "gpu_memory, gpu_share (or share), gpu_model, min_gpu_memory, cpus, memory.",
        "Order: submitted: first come, first served; expected: short jobs first.",
        "Limits: as-given: those of the trace; none: no job has one; x2: twice the",
        "duration of every job. With none and x2, every job runs to its end.",
        "VS FIFO: mean wait relative to fifo without backfill.",
        "SLOWDOWN: mean of (wait + run) / run; a run counts as 10 s at least.",
        "IDLE: GPU time that was free while jobs waited for GPUs.",
        "SHORT: GPU time by which owners had less than an equal share.",
        "No job is started, and no file is written except with --svg.",
    ),
)
