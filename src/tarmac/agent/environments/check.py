"""Answers whether the environments that a job names are there. Called in file helpers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

from tarmac.agent.environments.conda import look_for_conda
from tarmac.agent.environments.venv import look_at_venv

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import CheckEnvironmentsFrame, CondaQuestion, VenvQuestion
    from tarmac.shared.frames.to_controller import CondaEntry, EnvironmentsCheckedFrame, VenvEntry


def check(frame: CheckEnvironmentsFrame, touch: Callable[[str], None]) -> EnvironmentsCheckedFrame:
    """`touch` is called before a directory is read, because its file system may hang."""

    def venv_entry(asked: VenvQuestion) -> VenvEntry:
        found = look_at_venv(asked["path"], asked["cwd"], touch)
        return {"is_venv": found.is_venv, "nearest": found.nearest}

    def conda_entry(asked: CondaQuestion) -> CondaEntry:
        found = look_for_conda(asked["name"], asked["cwd"], frame["variables"], touch)
        return {"is_known": found.prefix is not None, "prefix": found.prefix, "known": found.known}

    return {
        "type": "environments_checked",
        "ref": frame.get("ref"),
        "venvs": [venv_entry(asked) for asked in frame["venvs"]],
        "condas": [conda_entry(asked) for asked in frame["condas"]],
    }
