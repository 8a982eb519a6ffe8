"""Programs that tests need besides Python. `need("gcc")` skips a test if it is missing, and fails in CI.

Run as a program (by `make test`), it installs them with apt as root, and otherwise says which tests are skipped.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Service:
    package: str  # its apt package
    left_out: str  # the tests that are skipped without it


SERVICES = {
    "gcc": Service(package="gcc libc6-dev", left_out="the GPU probe against the stand-in driver library"),
    "curl": Service(package="curl", left_out="the examples of the HTTP API's page"),
    "gpustat": Service(package="", left_out="its readings beside ours"),
    "nvitop": Service(package="", left_out="its readings beside ours"),
    "root": Service(package="", left_out="jobs on a full disk, peers of another user"),
}


def has(name: str) -> bool:
    return os.geteuid() == 0 if name == "root" else find(name) is not None


def find(name: str) -> str | None:
    """The path of the program, which may be beside this Python."""
    return shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))


def need(name: str) -> None:
    if has(name):
        return
    import pytest

    words = f"{name} is missing: {SERVICES[name].left_out}"
    if os.environ.get("CI") == "true":
        pytest.fail(words + " (in CI a missing service is a failure)", pytrace=False)
    pytest.skip(words)


def missing() -> list[str]:
    return [name for name in SERVICES if not has(name)]


def install() -> None:
    packages = [p for name in missing() for p in SERVICES[name].package.split()]
    if packages and has("root") and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-qq", "update"], env=quiet, check=False)
        subprocess.run(
            ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages], env=quiet, check=False
        )
    for name in missing():
        print(f"tests: without {name} these are left out: {SERVICES[name].left_out}", file=sys.stderr)


if __name__ == "__main__":
    install()
