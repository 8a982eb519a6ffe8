"""The metrics that `tarmac results` is asked for: patterns for logs, and keys of JSON files."""

from __future__ import annotations

import re

from tarmac.errors import UserError
from tarmac.shared.metric_patterns import NoValueGroup, metrics_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.groups import Asked, Metric

_KEY = re.compile(r"[\w./@-]+")


def is_json_file(word: str) -> bool:
    """A word after --json that names a file, and not a group."""
    return word.endswith((".json", ".jsonl", ".ndjson")) or "/" in word


def is_picture_file(word: str) -> bool:
    """A word after --plot that names a file, and not a group. Other formats than SVG are refused later."""
    return word.lower().endswith((".svg", ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".webp"))


def refuse_other_formats(files: Sequence[object]) -> None:
    for file in files:
        if isinstance(file, str) and not file.lower().endswith(".svg"):
            raise UserError(f"results: --plot writes SVG, not {file}", "name a file that ends in .svg")


def asked_metrics(patterns: Sequence[str], file: str | None) -> Asked:
    """With a file, a word without special characters is a key of it: `val.acc`. Everything else is a pattern."""
    if "" in patterns:
        raise UserError("results: --metric is empty", r"give a pattern for the log: --metric 'acc=([\d.]+)'")
    keys = [pattern for pattern in patterns if file is not None and _KEY.fullmatch(pattern)]
    metrics = [metric for pattern in patterns if pattern not in keys for metric in _metrics(pattern)]
    if not metrics and file is None:
        raise UserError(
            "results: no metric given",
            r"give a pattern for the log: --metric 'acc=([\d.]+)', or a file that each job wrote: --json metrics.json",
        )
    names = [*(metric["name"] for metric in metrics), *keys]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"results: two metrics are named {twice}", "name them with groups: '(?P<best>…)'")
    return {"metrics": metrics, "json": file, "keys": keys}


def _metrics(pattern: str) -> list[Metric]:
    try:
        found = metrics_of(pattern)
    except NoValueGroup as error:
        raise UserError(
            f"results: --metric '{pattern}' does not say which part is the value",
            rf"put the value in parentheses: '{error.name}=([\d.]+)'",
        ) from None
    return [{"name": one.name, "pattern": pattern, "group": one.group} for one in found]
