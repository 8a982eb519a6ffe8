"""Programs that tests need besides Python. `need("gcc")` skips a test if it is missing, and fails in CI.

Run as a program (by `make test`), it installs them with apt as root, and otherwise says which tests are skipped.
PyTorch is 200 MB: CI installs it into a separate directory while other tests run. Elsewhere, its tests are skipped
until you run `python tests/services.py torch`.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Service:
    package: str  # its apt package
    left_out: str  # the tests that are skipped without it


SERVICES = {
    "gcc": Service(package="gcc libc6-dev", left_out="the GPU probe against the stand-in driver library"),
    "curl": Service(package="curl", left_out="the examples of the HTTP API's page"),
    "chromium": Service(package="chromium", left_out="the page in a browser"),
    "fc-list": Service(package="fontconfig fonts-noto-cjk", left_out="`make screenshots`: Chinese text"),
    "ip": Service(package="iproute2", left_out="SSH hosts"),
    "ssh": Service(package="openssh-client", left_out="SSH hosts"),
    "sshd": Service(package="openssh-server", left_out="SSH hosts"),
    "tcsh": Service(package="tcsh", left_out="SSH hosts whose login shell is tcsh"),
    "fish": Service(package="fish", left_out="SSH hosts whose login shell is fish"),
    "tmux": Service(package="tmux", left_out="SSH hosts whose login files start tmux"),
    "python3": Service(package="python3-minimal", left_out="SSH hosts: the Python of the host"),
    "wrk": Service(package="wrk", left_out="`make bench`: requests/s"),
    "gpustat": Service(package="", left_out="its readings beside ours"),
    "nvitop": Service(package="", left_out="its readings beside ours"),
    "torch": Service(package="", left_out="examples/resume.py"),
    "root": Service(package="", left_out="jobs on a full disk, peers of another user, SSH hosts"),
}


TORCH = "torch==2.13.0+cpu"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
TORCH_HOME = Path(sys.prefix) / "torch"  # not among the locked packages


def has(name: str) -> bool:
    if name == "torch":
        return torch_path() is not None
    return os.geteuid() == 0 if name == "root" else find(name) is not None


def find(name: str) -> str | None:
    """The path of the program, which may be beside this Python, or among those of the administrator."""
    if name == "python3":
        return shutil.which(name, path="/usr/bin")  # Debian's, which other accounts can use as well
    return shutil.which(name) or shutil.which(name, path=f"{os.path.dirname(sys.executable)}:/usr/sbin:/sbin")


def torch_path() -> str | None:
    """The directory to add to PYTHONPATH; empty if this Python has PyTorch itself."""
    if importlib.util.find_spec("torch") is not None:
        return ""
    found = list(TORCH_HOME.glob("lib/python*/site-packages/torch/__init__.py"))
    return str(found[0].parents[1]) if found else None


def need_torch() -> str:
    """What to add to PYTHONPATH. In CI it is installed if it is missing."""
    if torch_path() is None and os.environ.get("CI") == "true":
        install_torch()
    need("torch")
    return torch_path() or ""


def install_torch() -> None:
    """The machine may have it at hand. Otherwise it comes from PyTorch's own index: the one on PyPI needs CUDA."""
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--prefix", str(TORCH_HOME)]
    if subprocess.run([*pip, TORCH], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        subprocess.run([*pip, "--extra-index-url", TORCH_INDEX, TORCH], check=False)


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
        with no_daemons():
            subprocess.run(
                ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages], env=quiet, check=False
            )
        if "openssh-server" in packages and shutil.which("systemctl"):
            disable = ["systemctl", "disable", "--quiet", "ssh.service"]  # not at the next start of the machine either
            subprocess.run(disable, stderr=subprocess.DEVNULL, check=False)
    if not has("torch") and "torch" in sys.argv:
        install_torch()
    for name in missing():
        print(f"tests: without {name} these are left out: {SERVICES[name].left_out}", file=sys.stderr)


@contextmanager
def no_daemons() -> Iterator[None]:
    """Packages that are installed meanwhile start no daemon: tests start their own `sshd`."""
    policy = Path("/usr/sbin/policy-rc.d")
    is_ours = not policy.exists()
    if is_ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        yield
    finally:
        if is_ours:
            policy.unlink()


if __name__ == "__main__":
    install()
