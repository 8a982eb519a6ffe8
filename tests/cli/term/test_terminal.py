"""Output that cannot be written."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_full_disk_under_standard_output_is_named() -> None:
    command = [sys.executable, "-c", "from tarmac.cli.main import main; main()", "--help"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, env=os.environ)
    assert done.returncode == 5
    assert done.stderr.decode().splitlines() == [
        "tarmac: cannot write to standard output: No space left on device",
        "  free some space on the disk, or write to another file",
    ]
