"""What was copied back from the node of a job, and what was not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.cli.render.text import safe
from tarmac.shared.units import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client.answers import Fetched


def fetched_lines(fetched: Fetched) -> Iterator[tuple[str, str]]:
    yield "fetched", safe(_summary(fetched))
    for problem in fetched["problems"]:
        yield "", safe(problem)
    if fetched["more_problems"]:
        yield "", f"and {fetched['more_problems']} more"


def _summary(fetched: Fetched) -> str:
    node, state = fetched["node"], fetched["state"]
    if state == "shared":
        return f"nothing: {node} has the same files"
    if state == "gone":
        return f"not copied: {node} was removed before"
    count = f"{fetched['files']} {'file' if fetched['files'] == 1 else 'files'}, {size(fetched['bytes'])}"
    if state == "waiting":
        return f"not yet: waits for the end of the job and for {node}"
    if state == "copying":
        return f"{count} so far, from {node}"
    same = f"; {fetched['same']} unchanged" if fetched["same"] else ""
    failed = len(fetched["problems"]) + fetched["more_problems"]
    left = f"; {failed} not copied:" if failed else ""
    return f"{count} from {node}{same}{left}"
