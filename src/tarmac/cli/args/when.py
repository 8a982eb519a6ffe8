"""When a job may run, for how long, and how often: its options, and what they become in a submit.

What is rarely typed is read by modules that are loaded only then.
"""

from __future__ import annotations

from tarmac.cli.args.values import duration, moment, positive
from tarmac.cli.parser import Option, shown
from tarmac.errors import UserError
from tarmac.shared.names import CONDITIONS, TIERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tarmac.cli.parser import Values
    from tarmac.client import Client

MOST_COPIES = 1_000_000
MOST_AFTER = 10_000  # jobs that one may wait for


def tier(word: str) -> str:
    if word.lower() not in TIERS:
        raise ValueError(f"it must be one of {', '.join(TIERS)}")
    return word.lower()


def dependencies(word: str) -> list[str]:
    """`7`, `7:any`, `3-5:fail`, `last`, several with commas; each with its outcome, `ok` where none is said."""
    found = []
    for part in filter(None, word.replace(" ", ",").split(",")):
        job, colon, on = part.partition(":")
        if not colon:
            on = "ok"
        if on not in CONDITIONS:
            raise ValueError(f"after the colon stands ok, any or fail, not {shown(on)}")
        first, dash, last = job.partition("-")
        if job != "last" and not (_is_id(first) and (not dash or _is_id(last))):
            raise ValueError(f"{shown(job)} is no job id; it must be such as 7, 7:any, 3-5 or last")
        found.append(f"{job}:{on}")
    if not found:
        raise ValueError("it must be a job, such as 7, 7:any or last")
    return found


def copies(word: str) -> int:
    """How many of 100 or 0-99."""
    first, dash, last = word.partition("-")
    if not _is_id(first) or (dash and not _is_id(last)):
        raise ValueError("it must be how many, such as 100 or 0-99; --max-running says how many at once")
    if dash and int(first) != 0:
        raise ValueError(f"the count begins at 0: 0-{last}; add to TARMAC_ARRAY_INDEX in the command what you need")
    number = int(last) + 1 if dash else int(first)
    if not 1 <= number <= MOST_COPIES:
        raise ValueError(f"it must be from 1 to {MOST_COPIES:,} copies")
    return number


def signal_number(word: str) -> int:
    """USR1, SIGUSR1 or 10."""
    from tarmac.cli.term.signals import named

    name = word.upper().removeprefix("SIG")
    number = int(name) if _is_id(name) else named(name)
    if number is None or not 1 <= number <= 64:
        raise ValueError("it must be a signal, such as USR1, INT or 10")
    if number in {9, 19}:
        raise ValueError("no process can catch that one; to be killed at once: --grace 0")
    return number


TURN = (
    Option("--time", None, "stop it when it has run so long: 6h, 90m, 1-12:00:00", "DURATION", duration),
    Option("--after", None, "once these have ended: 7, 7:any, 7:fail, last", "IDS", dependencies, has_many=True),
    Option("--begin", None, "not before: 22:00, 'in 3h', 'tomorrow 9:00', ISO", "MOMENT", moment),
    Option("--tier", None, "urgent, normal, or preemptible by the other two", "TIER", tier),
    Option("--signal", None, "what asks it to stop (default TERM): USR1", "NAME", signal_number),
)
ENTRY = (
    Option("--array", None, "so many copies, each with TARMAC_ARRAY_INDEX: 0-99", "N", copies),
    Option("--max-running", None, "of its array so many at once", "N", positive),
    Option("--hold", None, "it waits until `tarmac release`"),
    Option("--draft", None, "keep it as a draft until `tarmac release`"),
)


def when_of(values: Values) -> dict[str, Any]:
    """The part of a job that was asked for; whom it waits for is `waited_for`."""
    named = {"time": "time_limit_s", "begin": "begin_at", "tier": "tier", "signal": "signal"}
    return {field: values[name] for name, field in named.items() if values[name] is not None}


def entry_of(verb: str, values: Values) -> tuple[int | None, str]:
    """How many copies, if it is an array, and whether they are queued, held or drafts."""
    copies = values.get("array")
    if values.get("max_running") is not None and copies is None:
        raise UserError(f"{verb}: --max-running is about an array, and this is one job", "say how many: --array 0-99")
    if copies is not None and not values["append"] and any(values[name] for name in ("log", "stdout", "stderr")):
        raise UserError(
            f"{verb}: the copies of an array would all write into the same file",
            "leave it out: `tarmac log ID` shows what each wrote; or --append, and they share it",
        )
    if values.get("hold") and values.get("draft"):
        raise UserError(
            f"{verb}: --hold and --draft are two things",
            "--hold for a job that is ready, --draft for one that you still work at; `tarmac release` lets both go",
        )
    return copies, "held" if values.get("hold") else "draft" if values.get("draft") else "queued"


def waited_for(client: Client, given: Sequence[Sequence[str]]) -> list[str]:
    """`7:ok`, job by job: ranges counted out, `last` by its number."""
    found: dict[str, None] = {}
    for part in (part for parts in given for part in parts):
        job, _, on = part.partition(":")
        first, dash, last = job.partition("-")
        if not dash:
            found[f"{client.number_of(job)}:{on}"] = None
            continue
        if int(last) < int(first):
            raise UserError(f"--after {job}: that is no range of jobs to wait for", "the smaller first, such as 3-7")
        if int(last) - int(first) >= MOST_AFTER:
            raise UserError(
                f"--after {job}: one job may wait for at most {MOST_AFTER:,} others", "name the last of them"
            )
        found |= dict.fromkeys(f"{number}:{on}" for number in range(int(first), int(last) + 1))
    return list(found)


def _is_id(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 18
