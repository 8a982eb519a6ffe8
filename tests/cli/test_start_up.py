"""Modules that a command must not import. Each costs milliseconds, some as much as starting Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tarmac.cli.verbs.change.pause import NOTHING_DONE
from tests.home import Home

DEAR = """
argparse collections contextlib dataclasses datetime difflib enum functools http inspect json logging operator pathlib
random re selectors shlex shutil signal socket string subprocess tempfile threading types typing urllib
"""
ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).with_name("tarmac")
# Runs the script and reports its imports instead of exiting.
REPORT = """
import os, sys
def report(code):
    os.write(9, " ".join(sys.modules).encode())
    os.__dict__["leave"](code)
os.leave, os._exit = os._exit, report
sys.argv = sys.argv[1:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""


def loaded(home: Home, tmp_path: Path, *words: str) -> set[str]:
    report = tmp_path / "modules"
    command = f"exec 9>{report}; exec {sys.executable} -c '{REPORT}' {SCRIPT} {' '.join(words)}"
    done = subprocess.run(["sh", "-c", command], env=home.environment, capture_output=True, check=False)
    assert done.returncode in {0, NOTHING_DONE}, done.stderr.decode()
    return set(report.read_text().split())


def bare() -> set[str]:
    command = [sys.executable, "-c", "import sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())


VERBS = [
    "",
    "add true",
    "ls -a",
    "show last",
    "log last",
    "wait last",
    "kill last",
    "gpus",
    "status",
    "run true",
    "rm last",
    "set",
    "set max_load 0.1",
    "gpu drain 1",
    "gpu resume 1",
    "why last",
    "hold last",
    "release last",
    "queue",
    "reserve",
]


@pytest.mark.parametrize("line", VERBS)
def test_a_common_verb_imports_no_slow_module(shared_home: Home, tmp_path: Path, line: str) -> None:
    shared_home.tarmac("run", "true")
    extra = loaded(shared_home, tmp_path, *line.split()) - bare()
    assert not extra & set(DEAR.split())


def test_add_imports_only_the_listed_modules(shared_home: Home, tmp_path: Path) -> None:
    shared_home.tarmac("status")
    extra = loaded(shared_home, tmp_path, "add", "true") - bare()
    assert extra - {"__future__", "_json", "_socket", "errno", "gc"} == {
        "tarmac", "tarmac.cli", "tarmac.cli.args", "tarmac.cli.args.default_files", "tarmac.cli.args.job_options",
        "tarmac.cli.args.local_values", "tarmac.cli.main", "tarmac.cli.parser", "tarmac.cli.session",
        "tarmac.cli.term", "tarmac.cli.term.signals", "tarmac.cli.term.terminal", "tarmac.cli.verbs",
        "tarmac.cli.verbs.submit",
        "tarmac.cli.verbs.submit.add", "tarmac.client", "tarmac.client.admin", "tarmac.client.connection",
        "tarmac.client.fast", "tarmac.client.fast.json_codec", "tarmac.client.jobs", "tarmac.client.requests",
        "tarmac.client.transport", "tarmac.errors", "tarmac.paths",
        "tarmac.shared", "tarmac.shared.job_options", "tarmac.shared.names", "tarmac.shared.system",
        "tarmac.shared.system.file_systems",
        "tarmac.shared.units", "tarmac.typed", "tarmac.typed.option", "tarmac.typed.options", "tarmac.typed.requests",
        "tarmac.typed.values",
    }  # fmt: skip


@pytest.mark.parametrize("words", [[str(ROOT / "scripts" / "tarmac")], ["-m", "tarmac"]])
def test_ctrl_c_during_imports_ends_it_silently(tmp_path: Path, words: list[str]) -> None:
    package = tmp_path / "tarmac"
    (package / "cli").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text((ROOT / "src/tarmac/__main__.py").read_text())
    (package / "cli" / "__init__.py").touch()
    (package / "cli" / "main.py").write_text("import os, signal, time; os.kill(os.getpid(), signal.SIGINT)\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
