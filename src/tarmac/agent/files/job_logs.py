"""Lists the logs of jobs in the agent's state directory, and removes those of removed jobs. For a file helper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.shared.own.job_logs import delete_logs_of, logged_jobs

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import ListLogsFrame, RemoveLogsFrame
    from tarmac.shared.frames.to_controller import LogsListedFrame, LogsRemovedFrame


def list_logs(request: ListLogsFrame, state: str) -> LogsListedFrame:
    return {"type": "logs_listed", "ref": request.get("ref"), "jobs": logged_jobs(state)}


def remove_logs(request: RemoveLogsFrame, state: str) -> LogsRemovedFrame:
    delete_logs_of(state, set(request["jobs"]))
    return {"type": "logs_removed", "ref": request.get("ref")}
