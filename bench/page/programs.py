"""Programs that some rows need. `make bench` installs them as root."""

import shutil
import sys

PACKAGES = {"wrk": "wrk", "chromium": "chromium"}


def has(program: str) -> bool:
    """False, and a line that says so, if it is missing."""
    if shutil.which(program):
        return True
    print(f"  left out: {program} is missing (Debian's package {PACKAGES[program]})", file=sys.stderr, flush=True)
    return False
