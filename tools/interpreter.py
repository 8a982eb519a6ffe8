"""Finds the real interpreter to build .venv from: 3.11 or newer, never a shim."""

import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
NAMES = ("python3", "python3.13", "python3.12", "python3.11", "python3.14")


def find():
    asked = os.environ.get("PYTHON")
    for name in (asked,) if asked else NAMES:
        real = real_path(name)
        if real:
            return real
    sys.exit(
        "bootstrap: Python 3.11 or newer is required; none was found as "
        + (asked or ", ".join(NAMES))
        + ".\nInstall one (Debian, Ubuntu: apt install python3), or name it: make PYTHON=/path/to/python3.12 …"
    )


def real_path(name):
    """The real interpreter: a venv made from a pyenv shim would change with pyenv's settings."""
    found = shutil.which(name)
    if not found:
        return None
    ask = "import sys; print(sys.executable); sys.exit(sys.version_info < %r)" % (OLDEST,)
    done = subprocess.run([found, "-c", ask], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.decode().strip() if done.returncode == 0 else None
