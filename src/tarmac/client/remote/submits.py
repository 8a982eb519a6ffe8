"""A submit to another machine: its paths, environment and umask are those of the account there.

The environment and the umask of this machine are not sent, because they describe this machine. Paths are sent as they
are, except `~`, and except the directory of a snapshot: that one exists only here.
"""

from __future__ import annotations

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tarmac.errors import TarmacError

PATHS = ("cwd", "log", "stdout", "stderr", "venv", "conda")
OUTPUTS = ("log", "stdout", "stderr")


def settle(
    body: dict[str, Any], about: Mapping[str, Any], environment: Mapping[str, str] | None, umask: int | None
) -> None:
    """Complete the body of POST /jobs. `environment` and `umask` are None if the caller did not give them."""
    if environment is None:
        body["environment"] = about["environment"]
    if umask is None:
        body["umask"] = about["umask"]
    for job in body["jobs"]:
        if job.get("link"):
            raise UserError(
                "--link leads to files of this machine, which the job cannot reach",
                "leave out --link, and give the job the path of its data on the other machine",
            )
        for name in PATHS:
            if isinstance(job.get(name), str):
                job[name] = _expanded(job[name], about["home"])


def at_home(body: dict[str, Any], home: str) -> dict[str, Any]:
    """Jobs with a snapshot run in a checkout. Their own directory, and relative paths of logs, are in the home."""
    jobs = []
    for job in body["jobs"]:
        if isinstance(job.get("snapshot"), int) and not isinstance(job["snapshot"], bool):
            below = f"{job['cwd'].rstrip('/')}/"
            moved = {
                name: f"{home}/{job[name].removeprefix(below)}"
                for name in OUTPUTS
                if name in job and job[name].startswith(below)
            }
            job = {**job, **moved, "cwd": home}
        jobs.append(job)
    return {**body, "jobs": jobs}


def explain_directory(error: TarmacError, name: str) -> None:
    """The directory of the submitter is looked for on the other machine."""
    if error.key == "submit.cwd_not_a_directory":
        error.hint = (
            f"the job runs on {name}: choose a directory there, such as --cwd '~', or send this one: --snapshot"
        )


def _expanded(path: str, home: str) -> str:
    """`~` was typed in quotes, so that no shell replaced it. It may have been joined to a directory of this machine."""
    path = path if path.startswith("/") else f"/{path}" if path.startswith("~") else path
    _, mark, after = path.rpartition("/~/")
    if mark:
        return f"{home}/{after}"
    return home if path.endswith("/~") else path
