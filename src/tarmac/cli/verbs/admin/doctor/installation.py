"""Checks what a controller and an agent would do at their start, by starting them for a check only."""

from __future__ import annotations

import json
import os
import sys

from tarmac import __version__, paths
from tarmac.cli.verbs.admin.doctor.finding import Finding
from tarmac.shared.own import strict_modes
from tarmac.shared.own.environment import own_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CHECK_S = 30


def check_installation() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < (3, 11)
    yield Finding(
        "bad" if old else "ok",
        "python",
        f"{version} at {sys.executable}",
        "Tarmac needs Python 3.11 or newer" if old else None,
    )
    yield Finding("ok", "tarmac", __version__)


def check_start(state: str | None, *, at_rest: bool) -> Iterator[Finding]:
    """What a controller would refuse: the config file, missing modules and, if no other one has it, the database."""
    yield from _check_config_modes()
    check = "--check-all" if at_rest else "--check-config"
    try:
        problems = _run("tarmac.controller", check, *(() if state is None else ("--state", state)))
    except _Failed as failure:
        yield Finding("bad", "packages", failure.text, "install Tarmac again, with all packages it depends on")
        return
    for problem in problems:
        yield Finding("bad", problem["check"], problem["text"], problem["advice"])
    if not any(problem["check"] == "config" for problem in problems):
        path = paths.config_path()
        found = os.path.exists(path)
        yield Finding("ok", "config", path if found else f"none, so defaults apply ({path})")


def check_containment(state: str) -> Iterator[Finding]:
    """How an agent would contain its jobs. Asked only while none is running."""
    from tarmac.cli.verbs.admin.doctor.running import containment_finding

    try:
        found = _run("tarmac.agent", "--check", "--state", state)
    except _Failed as failure:
        yield Finding("bad", "agent", f"it cannot start: {failure.text}", "install Tarmac again")
        return
    yield containment_finding(found)


class _Failed(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _run(*words: str) -> Any:
    """What a check prints."""
    import subprocess

    command = [sys.executable, "-m", *words]
    try:
        done = subprocess.run(
            command,
            env=own_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd="/",
            timeout=CHECK_S,
            check=False,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise _Failed(f"`{' '.join(command)}` does not end") from None
    except OSError as error:
        raise _Failed(f"{sys.executable}: {error.strerror}") from None
    except ValueError:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise _Failed(last[0] if last else f"`{' '.join(command)}` exited with {done.returncode}") from None


def _check_config_modes() -> Iterator[Finding]:
    for problem in strict_modes.problems_of_config(paths.config_path()):
        yield mode_finding("config", problem)
    try:
        with open(paths.config_path(), encoding="utf-8", errors="replace") as file:
            has_secrets = "[notify" in file.read()
        if has_secrets and strict_modes.can_others_read(paths.config_path()):
            text = f"{paths.config_path()} has targets of notifications, and other users can read it"
            yield Finding("warning", "config", text, f"run `chmod go= {paths.config_path()}`")
    except OSError:
        pass  # it does not exist, or the controller says what is wrong with it


def mode_finding(name: str, problem: strict_modes.Problem) -> Finding:
    if problem.safe_mode is None:
        return Finding("bad", name, problem.text, problem.fix)
    return Finding("warning", name, problem.text, "nothing to do: the next command that starts a controller fixes it")
