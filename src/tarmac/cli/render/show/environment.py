"""The environment of a job: its variables for `tarmac show --env`, its Python, and how that changed since it ran."""

from __future__ import annotations

from tarmac.cli.render.text import counted, safe
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.client.answers import PackageChange, Python, Variable
    from tarmac.client.records import Job

HIDDEN = "***"
MOST_CHANGES = 5


def environment_lines(variables: Sequence[Variable]) -> list[str]:
    """`NAME=VALUE` each. Nobody gets to see a secret."""
    return [f"{safe(one['name'])}={HIDDEN if one['value'] is None else safe(one['value'])}" for one in variables]


def python_words(python: Python) -> str:
    """`3.11.7, 84 packages`."""
    return safe(f"{python['version']}, {counted(len(python['packages']), 'package')}")


def change_lines(changes: Sequence[PackageChange]) -> list[str]:
    """`torch 2.3.0 → 2.4.1`, `numpy removed`; only the first ones, and how many more."""
    lines = [safe(_change(one)) for one in changes[:MOST_CHANGES]]
    more = len(changes) - len(lines)
    return [*lines, f"… and {more:,} more"] if more else lines


def warning(jobs: Sequence[int], changes: Sequence[PackageChange]) -> str:
    """For the error output: that the results of these jobs may differ from before, and why."""
    named = f"job {jobs[0]}" if len(jobs) == 1 else f"jobs {spans(list(jobs))}"
    lines = "".join(f"  {line}\n" for line in change_lines(changes))
    return f"tarmac: the Python environment of {named} has changed since then:\n{lines}"


def difference(first: Job, second: Job) -> str:
    """For the error output: how the Python environments of two jobs differ. Empty if they do not, or are not known."""
    then, now = first.python, second.python
    changes = [] if then is None or now is None else package_changes(then, now)
    if not changes:
        return ""
    lines = "".join(f"  {line}\n" for line in change_lines(changes))
    return f"tarmac: the Python environment differs from job {first.id} to job {second.id}:\n{lines}"


def package_changes(then: Python, now: Python) -> list[PackageChange]:
    """The interpreter first, then packages by name."""
    before, after = {**then["packages"]}, {**now["packages"]}
    names = sorted({*before, *after})
    packages = [(name, before.get(name), after.get(name)) for name in names]
    pairs = [("python", then["version"], now["version"]), *packages]
    return [{"name": name, "then": old, "now": new} for name, old, new in pairs if old != new]


def _change(one: PackageChange) -> str:
    name, then, now = one["name"], one["then"], one["now"]
    if now is None:
        return f"{name} removed (was {then})"
    return f"{name} added ({now})" if then is None else f"{name} {then} → {now}"
