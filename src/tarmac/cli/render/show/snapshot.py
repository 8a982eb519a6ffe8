"""The lines of `tarmac show` about the code that a job runs."""

from __future__ import annotations

from tarmac.cli.render.text import counted, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tarmac.client.answers import Snapshot

COMMIT_DIGITS = 12


def snapshot_lines(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    yield "snapshot", safe(_origin(snapshot) + ("" if snapshot["is_stored"] else "; removed meanwhile"))
    if snapshot["links"]:
        yield "links", safe(", ".join(snapshot["links"]))
    yield "checkout", safe(snapshot["checkout"])


def _origin(snapshot: Snapshot) -> str:
    if snapshot["changed"] is None:
        return f"{snapshot['root']}, without git"
    commit = "no commit yet" if snapshot["commit"] is None else f"commit {snapshot['commit'][:COMMIT_DIGITS]}"
    branch = "not on a branch" if snapshot["branch"] is None else f"branch {snapshot['branch']}"
    changed = snapshot["changed"]
    state = "clean" if not changed else f"dirty: {counted(changed, 'changed file')}"
    return f"{commit}, {branch}, {state}"
