"""`tarmac report`: the GPU time that was held and used, by owner, project, GPU or day."""

from __future__ import annotations

from time import time

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, width
from tarmac.errors import UserError
from tarmac.shared.clocks import parse_past
from tarmac.typed.suggest import not_a_choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

GROUPS = ("owner", "project", "gpu", "day")
ALL = "all"


def run(values: Values, _: list[str]) -> int:
    if values["csv"] and values["json"]:
        raise UserError("report: --csv cannot be used together with --json", "leave out one of them")
    since, until = values["since"], values["until"]
    if since is not None and until is not None and since > until:
        raise UserError("report: --since is later than --until", "give the earlier one as --since")
    only = {"owner": values["owner"], "project": values["project"]}
    found = connect().report(by=values["by"] or "owner", since=since, until=until, **only)
    if values["json"]:
        out_json(found)
        return 0
    if values["csv"]:
        from tarmac.shared.tables.report import report_csv

        out(report_csv(found))
        return 0
    from tarmac.cli.render.admin.report import table

    if not found["rows"] and found["foreign"] is None:
        err(f"No GPU time was used from {found['since']} to {found['until']}.\n")
        return 0
    out(f"GPU-hours from {found['since']} to {found['until']}\n\n")
    out("\n".join(table(found, width=width(), has_colours=has_colours())) + "\n")
    return 0


def group(word: str) -> str:
    meant = word.lower().removesuffix("s")
    meant = {"user": "owner"}.get(meant, meant)
    if meant not in GROUPS:
        raise ValueError(not_a_choice([meant], GROUPS))
    return meant


def first_day(word: str) -> float:
    return 0.0 if word.strip().lower() == ALL else last_day(word)


def last_day(word: str) -> float:
    if word.strip().isdecimal():
        raise ValueError(f"which unit? {word.strip()}d is days")
    return parse_past(word, time())


VERB = Verb(
    "report",
    "show the GPU-hours that were held and used",
    usage=("tarmac report [options]",),
    run=run,
    options=(
        Option("--by", None, "one row per owner (default), project, gpu or day", "GROUP", group),
        Option("--since", None, "the first day (default 30d): 7d, mon, 2026-11-01, all", "TIME", first_day),
        Option("--until", None, "the last day (default today): yesterday, 2026-11-30", "TIME", last_day),
        Option("--owner", None, "only the jobs of this user", "USER"),
        Option("--project", None, "only the jobs of this project; '' for those without one", "NAME"),
        Option("--csv", None, "print comma-separated values, in GPU-seconds"),
        JSON,
    ),
    examples=(
        ("tarmac report", "the last 30 days, by owner"),
        ("tarmac report --by project --since 2026-10-01 --until 2026-10-31", "a month, by project"),
        ("tarmac report --by day --since 7d", "the last week, day by day"),
        ("tarmac report --by day --owner ann", "the last 30 days of one user"),
        ("tarmac report --since all --csv > gpu-hours.csv", "everything, for a spreadsheet"),
    ),
    notes=(
        "HELD: GPU-hours reserved for jobs; a shared GPU counts in proportion. USED: weighted by utilization.",
        "Running jobs are counted up to now. Removed jobs stay in the report.",
        "Foreign processes, which Tarmac did not start, count where no job held the GPU.",
    ),
    takes_words=False,
)
