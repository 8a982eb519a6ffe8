"""`tarmac add --batch`: read the file, check every line, and queue all jobs in one submit, or none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tarmac.cli.args.job_options import options_of, send
from tarmac.cli.batch.file import read_source
from tarmac.cli.files.reading import STDIN
from tarmac.errors import NotFound, TarmacError, UserError
from tarmac.typed.batch.formats import read_batch
from tarmac.typed.batch.jobs import jobs_of
from tarmac.typed.batch.parts import Mistake
from tarmac.typed.batch.source import format_of, refuse
from tarmac.typed.blame import blamed
from tarmac.typed.requests import entry_of
from tarmac.typed.values import group_name

if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.typed.batch.jobs import BatchJob
    from tarmac.typed.batch.source import Source

MOST_JOBS = 1_000_000


def submit_batch(client: Client, values: Values, words: list[str]) -> tuple[list[BatchJob], list[int]]:
    """The jobs, and their ids unless it is a dry run. Raises UserError with all mistakes, each with its place."""
    if values["array"] is not None:
        raise UserError(
            "add: --batch and --array exclude each other", "write a line for each job, or use --array alone"
        )
    source = read_source(values["batch"])
    jobs = _jobs(source, values, words, client)
    requests = [job.request for job in jobs]
    try:
        group = {"kind": "batch", "name": values["group"] or values["name"] or _name(values["batch"])}
        return jobs, send(client, values, requests, group, entry_of("add", values))
    except TarmacError as error:
        raise _placed(error, source, jobs) from None


def _name(path: str) -> str | None:
    """The group is named after its file, unless that name looks like an id."""
    try:
        return None if path == STDIN else group_name(os.path.basename(path))
    except ValueError:
        return None


def _jobs(source: Source, values: Values, words: list[str], client: Client) -> list[BatchJob]:
    form = values["batch_format"] or format_of(source)
    found = jobs_of(read_batch(source.lines, form), values, words, options_of("add"), client.number_of)
    if found.mistakes:
        raise refuse(source, found.mistakes)
    if not found.jobs:
        raise UserError(f"add: {source.name} has no jobs", "write one command per line")
    if len(found.jobs) > MOST_JOBS:
        raise UserError(
            f"add: {source.name} has {len(found.jobs):,} jobs; the limit is {MOST_JOBS:,}", "split the file"
        )
    return found.jobs


def _placed(error: TarmacError, source: Source, jobs: list[BatchJob]) -> TarmacError:
    """The controller's refusal of a submit, with the lines of the jobs that it refused."""
    refused = error.jobs
    if not refused and len(jobs) == 1 and error.key is not None and isinstance(error, (UserError, NotFound)):
        refused = [{"index": 0, "key": error.key, "message": error.message, "hint": error.hint}]
    if not refused:
        return error
    mistakes = []
    for one in refused:
        message = f"{one['message']}; {one['hint']}" if one["hint"] else one["message"]
        mistakes.append(Mistake(*jobs[one["index"]].place_of(*blamed(one["key"])), message))
    return refuse(source, mistakes)
