"""Groups of jobs in lists: how many are in each state, how far the group is, and what differs between its jobs."""

from __future__ import annotations

from tarmac.cli.render.table import Column, lines
from tarmac.shared.names import AT_WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import Group

BAR = 10  # characters
LEAST_JOBS, LEAST_NARROW = 28, 24  # columns for what differs between the jobs; on a terminal below 80 columns
GIVE_WAY = ("KIND", "NAME", "PROGRESS")  # left out in this order if space is short, before columns that count jobs
COUNTS = ("OTHER", "RUN", "WAIT")
_OTHERS = ("held", "draft", "cancelled", "unknown", "removed")


def groups_table(groups: Sequence[Group], *, width: int | None, has_colours: bool) -> list[str]:
    failed = [group["counts"].get("failed", 0) for group in groups]
    dim = ["dim" if group["ended"] == _left(group) else None for group in groups] if has_colours else None
    columns = [
        Column("GROUP", [str(group["id"]) for group in groups], is_right=True, styles=dim),
        Column("KIND", [group["kind"] for group in groups], styles=dim),
        Column("PROGRESS", [bar(group) for group in groups], styles=["green"] * len(groups) if has_colours else None),
        Column("DONE", [f"{group['ended']:,}/{_left(group):,}" for group in groups], is_right=True, styles=dim),
        Column("RUN", [_sum(group, AT_WORK[:-1]) for group in groups], is_right=True, styles=dim),
        Column("WAIT", [_sum(group, ("queued",)) for group in groups], is_right=True, styles=dim),
    ]
    if any(failed):
        hue = ["red" if number else None for number in failed] if has_colours else None
        columns.append(Column("FAIL", [str(number or "-") for number in failed], is_right=True, styles=hue))
    others = [_others(group) for group in groups]
    if any(others):
        columns.append(Column("OTHER", others, styles=dim))
    if any(group["name"] for group in groups):
        columns.append(Column("NAME", [group["name"] or "" for group in groups], least=8, styles=dim))
    least = LEAST_NARROW if width is not None and width < 80 else LEAST_JOBS
    columns.append(Column("JOBS", map(what_differs, groups), least=least, styles=dim))
    empty = [one.title for one in columns if one.title in COUNTS and set(one.values) == {one.title, "-"}]
    return lines(columns, width, (*GIVE_WAY, *empty, *(title for title in COUNTS if title not in empty)))


def bar(group: Group, length: int = BAR) -> str:
    """Full once all jobs have ended, whatever their end."""
    done = group["ended"] * length // _left(group) if _left(group) else length
    return "█" * done + "░" * (length - done)


def what_differs(group: Group) -> str:
    return f"{group['varies']}  {group['command']}" if group["varies"] else group["command"]


def in_words(group: Group) -> str:
    """`sweep first: 40 of 100 done, 3 running, 57 queued`."""
    counts = [f"{number:,} {state}" for state, number in group["counts"].items()]
    name = f" {group['name']}" if group["name"] else ""
    return f"{group['kind']} {group['id']}{name}: {group['ended']:,} of {_left(group):,} done; {', '.join(counts)}"


def _left(group: Group) -> int:
    """The jobs that were not removed."""
    return sum(group["counts"].values())


def _sum(group: Group, states: Sequence[str]) -> str:
    number = sum(group["counts"].get(state, 0) for state in states)
    return f"{number:,}" if number else "-"


def _others(group: Group) -> str:
    counts = {**group["counts"], "removed": group["count"] - _left(group)}
    return ", ".join(f"{counts[state]:,} {state}" for state in _OTHERS if counts.get(state))
