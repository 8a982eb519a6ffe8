"""The options that describe a job, for `add`, `run` and `edit`, and the submit itself."""

from __future__ import annotations

import os

from tarmac.cli.args.local_values import READERS
from tarmac.cli.term.terminal import err
from tarmac.errors import TarmacError
from tarmac.typed import options
from tarmac.typed.option import Option
from tarmac.typed.requests import array_group, entry_of, request_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client import Client
    from tarmac.typed.option import Values
    from tarmac.typed.requests import Body, GroupBody

TEMPLATE = Option("--template", None, "use the options of this template; see `tarmac template`", "NAME")


def options_of(verb: str) -> list[Option]:
    """Those of shared/job_options.py. Their values are completed on this machine."""
    return options.options_of(verb, READERS)


def submit(client: Client, verb: str, values: Values, words: list[str]) -> list[int]:
    """The ids: one, or one for each job of the array; none for a dry run."""
    request = request_of(verb, values, words, client.number_of)
    group = array_group(verb, values, request)
    return send(client, values, [request], group, entry_of(verb, values))


def send(
    client: Client, values: Values, requests: Sequence[Body], group: GroupBody | None, entry: str = "queued"
) -> list[int]:
    """Submit jobs with the environment of the caller, or with that of a login on another machine. Prints hints."""
    environment, left_out = _environment() if client.remote is None else (None, [])
    try:
        ids = client.submit_many(
            requests,  # type: ignore[arg-type]
            environment=environment,
            group=group,  # type: ignore[arg-type]
            entry=entry,
            dry_run=bool(values.get("dry_run")),
            on_hint=None if values["json"] else tell,
        )
    except TarmacError as error:
        if values.get("origins"):
            from tarmac.typed.blame import name_origins

            name_origins(error, requests)
        raise
    for name in left_out:
        err(f"tarmac: {name} is not UTF-8 and was left out of the job's environment\n")
    return ids


def tell(hint: str) -> None:
    from tarmac.cli.render.text import safe

    err(f"tarmac: {safe(hint)}\n")


def _environment() -> tuple[dict[str, str], list[str]]:
    from tarmac.client.requests import sendable

    kept, left_out = sendable(os.environ)
    return dict(kept), left_out
