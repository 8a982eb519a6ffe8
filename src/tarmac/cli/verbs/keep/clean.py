"""`tarmac clean`: remove ended jobs and their logs, after a preview."""

from __future__ import annotations

from time import time

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.queue_mode import folded
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.confirm import confirm
from tarmac.cli.term.terminal import STDERR, err, is_terminal, out, out_json, width
from tarmac.errors import UserError
from tarmac.shared.clocks import clock, epoch
from tarmac.shared.units import DAY_S, size
from tarmac.typed.values import count, past

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client
    from tarmac.client.history.history import CleanPreview

OLDER_S = 30 * DAY_S  # unless something else is given


def run(values: Values, words: list[str]) -> int:
    from tarmac.client.history.history import preview_cleaning

    wanted = _wanted(values, words)
    client = connect()
    preview = preview_cleaning(client, wanted)
    removed = 0
    if preview["jobs"] and not values["dry_run"]:
        if not values["json"]:
            err(_lines(preview, width(STDERR)))
        if not confirm("clean", "Remove them?", yes=values["yes"]):
            err("nothing was removed\n")
            return 1
    if not values["dry_run"]:
        removed = _remove(client, wanted, preview)  # also logs that a crash left behind
    if not removed:
        _report(values, preview, 0, _lines(preview, width()))
        return 0
    _report(values, preview, removed, f"removed {counted(removed, 'job')}\n")
    return 0


def _wanted(values: Values, words: list[str]) -> dict[str, object]:
    if words and values["state"]:
        raise UserError("clean: states are given twice", "give them as words, or with --state")
    states = ",".join(words) or values["state"]
    older = values["older"]
    if older is None and states is None and values["keep"] is None:
        older = time() - OLDER_S
    more = {"owner": values["owner"], "all_owners": values["all_owners"]}
    return {"before": older, "state": states, "keep": values["keep"] or 0, **more}


def _remove(client: Client, wanted: dict[str, object], preview: CleanPreview) -> int:
    from tarmac.client.history.history import clean_previewed, preview_cleaning

    fixed = {**wanted, "keep": 0, "before": preview["before"], "before_id": preview["before_id"]}
    removed = 0
    for part in clean_previewed(client, fixed):
        removed += part
        if is_terminal(STDERR) and preview["jobs"] > part:
            err(f"\rremoved {removed:,} of {preview['jobs']:,} jobs\x1b[K")
    if is_terminal(STDERR):
        err("\r\x1b[K")
    if removed < preview["jobs"]:  # an answer got lost, as when the controller restarts, or some stayed
        removed = max(removed, preview["jobs"] - preview_cleaning(client, fixed)["jobs"])
    return removed


def _report(values: Values, preview: CleanPreview, removed: int, words: str) -> None:
    if values["json"]:
        limits = {"before", "before_id"}
        out_json({"removed": removed, **{name: value for name, value in preview.items() if name not in limits}})
    elif removed:
        err(words)
    else:
        out(words)


def _lines(preview: CleanPreview, columns: int | None) -> str:
    return "".join(f"{line}\n" for line in folded(_sentence(preview), columns, 2))


def _sentence(preview: CleanPreview) -> str:
    kept = preview["kept"]
    them = "stays, because waiting jobs depend on it" if kept == 1 else "stay, because waiting jobs depend on them"
    stay = f"{counted(kept, 'job')} {them}"
    if not preview["jobs"]:
        return f"nothing to remove{f': {stay}' if kept else ''}"
    ended = [clock(epoch(moment), time()) for moment in (preview["oldest"], preview["newest"]) if moment]
    span = "" if not ended else f", ended {ended[0]}" if ended[0] == ended[-1] else f", ended {ended[0]} to {ended[-1]}"
    space = f"{size(preview['log_bytes'])} of logs and about {size(preview['database_bytes'])} of the database"
    return f"{counted(preview['jobs'], 'job')}{span}: {space}{f'; {stay}' if kept else ''}"


VERB = Verb(
    "clean",
    "remove ended jobs and their logs",
    usage=("tarmac clean [STATE…] [options]",),
    run=run,
    options=(
        Option("--older", None, "only jobs that ended before then (default 30d): 7d, 2026-11-01", "TIME", past),
        Option("--state", None, "succeeded, failed, cancelled or unknown; several with commas", "STATE"),
        Option("--keep", None, "keep the newest N of them", "N", count),
        Option("--owner", None, "remove the jobs of this user (admins)", "USER"),
        Option("--all-owners", None, "remove the jobs of all users (admins)"),
        Option("--dry-run", None, "only say what would be removed"),
        Option("--yes", "-y", "don't ask"),
        JSON,
    ),
    examples=(
        ("tarmac clean --dry-run", "what ended more than 30 days ago, and the space it takes"),
        ("tarmac clean --older 7d --yes", "without asking, for cron"),
        ("tarmac clean failed cancelled", "all jobs in these states"),
        ("tarmac clean --keep 1000", "all but your newest thousand"),
    ),
    notes=(
        "With a state or --keep, the age does not matter unless you give --older. `--keep 0` removes all ended jobs.",
        "Jobs that wait or run are never removed, nor are jobs that a waiting job depends on.",
        "Files that you chose with --log stay. `tarmac rm ID` removes single jobs.",
        "The settings history_limit and history_keep_s clean automatically.",
    ),
)
