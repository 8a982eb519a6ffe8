"""`tarmac history`: ended jobs, the newest first, by filters and by text."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import STDERR, STDOUT, err, has_colours, is_terminal, out, out_json, width
from tarmac.errors import UserError
from tarmac.typed.values import count, past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.cli.parser import Values
    from tarmac.client.records import Job

NEWEST = 20  # jobs, unless the caller asks for another number
FILTERS = (
    Option("--owner", None, "only the jobs of this user", "USER"),
    Option("--project", None, "only the jobs of this project; '' for those without one", "NAME"),
    Option("--tag", None, "only jobs with this tag", "TAG"),
    Option("--name", None, "only jobs with this name; * and ? are wildcards", "GLOB"),
    Option("--state", None, "succeeded, failed, cancelled or unknown; several with commas", "STATE"),
)


def run(values: Values, _: list[str]) -> int:
    if values["csv"] and values["json"]:
        raise UserError("history: --csv cannot be used together with --json", "leave out one of them")
    if values["failed"] and values["state"]:
        raise UserError("history: --failed cannot be used together with --state", "leave out one of them")
    since, until = values["since"], values["until"]
    if since is not None and until is not None and since > until:
        raise UserError("history: --since is later than --until", "give the earlier one as --since")
    number = values["number"]
    limit = None if values["all"] else NEWEST if number is None else number
    jobs = _jobs(values, None if limit is None else limit + 1)
    if values["csv"]:
        return _print_csv(jobs, limit)
    found = list(jobs)
    has_more = limit is not None and len(found) > limit
    found = found[:limit]
    if values["json"]:
        out_json([job.raw for job in found])
        return 0
    if not found:
        if has_more:  # -n 0
            return 0
        err("No jobs have ended yet.\n" if not _is_filtered(values) else "No ended job matches.\n")
        return 0
    from tarmac.cli.render.history import table

    out("\n".join(table(found, width=width(), has_colours=has_colours())) + "\n")
    if has_more and is_terminal(STDOUT) and is_terminal(STDERR):
        err(f"older jobs: tarmac history -n {max(limit or 0, 1) * 5}\n")
    return 0


def _jobs(values: Values, limit: int | None) -> Iterator[Job]:
    from tarmac.cli.render.history import FIELDS
    from tarmac.client.history.history import pages
    from tarmac.client.records import Job

    filters = ("owner", "project", "tag", "node", "name", "since", "until", "search")
    query = {name: values[name] for name in filters if values[name] is not None}
    query["state"] = "failed" if values["failed"] else values["state"]
    query["fields"] = None if values["json"] else FIELDS
    for page in pages(connect(), query, limit, _tell_unindexed):
        yield from map(Job, page)


def _print_csv(jobs: Iterator[Job], limit: int | None) -> int:
    from tarmac.shared.tables.history import TITLES, history_csv

    out(TITLES)
    for nth, job in enumerate(jobs):
        if limit is not None and nth >= limit:
            break
        out(history_csv([job.raw]))
    return 0


def _tell_unindexed(jobs: int) -> None:
    err(f"tarmac: the index is still being built: the {counted(jobs, 'oldest job')} may be missing\n")
    err("  run the command again in a minute\n")


def _is_filtered(values: Values) -> bool:
    names = ("owner", "project", "tag", "node", "name", "state", "since", "until", "search", "failed")
    return any(values[name] not in {None, False} for name in names)


VERB = Verb(
    "history",
    "list and search ended jobs, the newest first",
    usage=("tarmac history [options]",),
    run=run,
    options=(
        Option("--number", "-n", f"list only the newest N jobs (default {NEWEST})", "N", count),
        Option("--all", "-a", "list all of them"),
        Option("--search", "-s", "only jobs with these words in their texts (see below)", "TEXT"),
        Option("--failed", "-f", "only failed jobs"),
        Option("--since", None, "only jobs that ended since then: 7d, yesterday, 2026-11-01", "TIME", past),
        Option("--until", None, "only jobs that ended before then", "TIME", past),
        *FILTERS,
        Option("--node", None, "only jobs that ran on this node", "NODE"),
        Option("--csv", None, "print comma-separated values"),
        JSON,
    ),
    examples=(
        ("tarmac history -n 50 --failed", "the last 50 failed jobs"),
        ("tarmac history --since 7d --owner ann", "those of one user that ended this week"),
        ("tarmac history --search 'resnet lr=0.1'", "jobs that mention both words"),
        ("tarmac history --all --csv > jobs.csv", "all of them, for a spreadsheet"),
    ),
    notes=(
        "--search looks for each word in a job's name, command, tags, project, note, parameters and error.",
        "A part of a word is enough. Case does not matter.",
        "`tarmac ls -a` lists all jobs, also those that have not ended.",
    ),
    takes_words=False,
)
