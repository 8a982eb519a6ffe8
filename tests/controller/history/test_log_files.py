"""Logs of removed jobs are deleted, whatever the number of attempts that a job claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarmac.controller.history.log_files import delete_logs
from tarmac.store.history.removal import EndedJob


@pytest.mark.parametrize("attempt", [2, 2**53])
def test_all_logs_of_a_job_are_deleted(tmp_path: Path, attempt: int) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("7.1.log", "7.2.log", "77.1.log", "8.1.log"):
        (logs / name).touch()
    delete_logs(tmp_path, [EndedJob(7, attempt)])
    assert sorted(path.name for path in logs.iterdir()) == ["77.1.log", "8.1.log"]
