"""Compiles the tests as pytest does, each once. Otherwise every worker compiles all of them, which takes it 10 seconds.

Compiled even if PYTHONDONTWRITEBYTECODE is set. `make test` runs this; it takes no time if nothing changed.
"""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def main() -> None:
    files = sorted(map(str, filter(is_stale, TESTS.rglob("test_*.py"))))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    pytest = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    cores = os.cpu_count() or 1
    parts = [part for first in range(cores) if (part := files[first::cores])]
    started = [subprocess.Popen([*pytest, *part], env=environment, stdout=subprocess.DEVNULL) for part in parts]
    for process in started:
        process.wait()  # pytest itself reports what cannot be compiled


def is_stale(source: Path) -> bool:
    compiled = (source.parent / "__pycache__").glob(f"{source.stem}.*-pytest-*.pyc")
    return not any(one.stat().st_mtime >= source.stat().st_mtime for one in compiled)


if __name__ == "__main__":
    main()
