"""The same events lead to the same decisions, regardless of Python's hash seed."""

from __future__ import annotations

import os
import subprocess
import sys


def decisions_under(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "tests.core.support.one_run"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def test_decisions_do_not_depend_on_the_hash_seed() -> None:
    first, second = decisions_under("1"), decisions_under("2")
    assert first.count("\n") > 800
    assert first == second
