"""Runs the tests in two turns: those with SSH hosts come last, alone.

They add network interfaces to this machine, and a browser gives up its requests whenever one comes or goes.
"""

import subprocess
import sys

APART = "tests/ssh"
NOTHING_SELECTED = 5  # pytest's exit code


def main(options: list[str]) -> int:
    if any(not word.startswith("-") and word.startswith("tests") for word in options):
        return run(options)  # the caller chose
    codes = [run([*options, f"--ignore={APART}"]), run([*options, APART])]
    failed = [code for code in codes if code not in {0, NOTHING_SELECTED}]
    return failed[0] if failed else min(codes)


def run(options: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *options], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
