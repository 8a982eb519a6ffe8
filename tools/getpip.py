"""Gets pip into a .venv where `ensurepip` is missing, without root, from sources the machine already trusts."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile

import pipconf


def into(python):
    """Try uv, an installed pip, the index that pip is configured for, and the package of the distribution."""
    folder = tempfile.mkdtemp(prefix="tarmac-getpip-")
    try:
        for way in (by_uv, by_other_pip, by_index, by_apt):
            if way(python, folder) and has_pip(python):
                return
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(
        "bootstrap: this Python has no ensurepip, and pip could not be fetched.\n"
        "Either install the package python3-venv, or name a package index: PIP_INDEX_URL=… make …"
    )


def has_pip(python):
    return succeeds([python, "-m", "pip", "--version"])


def by_uv(python, _folder):
    return shutil.which("uv") and succeeds(["uv", "pip", "install", "--quiet", "--python", python, "pip"])


def by_other_pip(python, _folder):
    pip = shutil.which("pip3") or shutil.which("pip")
    return pip and succeeds([pip, "--quiet", "--python", python, "install", "pip"])


def by_index(python, folder):
    for url, cert in pipconf.indexes():
        wheel = pipconf.download_newest("pip", url, cert, folder)
        if wheel and install_wheel(python, wheel):
            return True
    return False


def by_apt(python, folder):
    """`apt-get download` needs no root. If package lists are missing, it downloads its own into `folder`."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return False
    download = ["download", "python3-pip-whl"]
    if not apt(download, folder):
        os.makedirs(folder + "/lists/partial")
        os.makedirs(folder + "/cache/archives/partial")
        own = ["-o", "Dir::State::Lists=" + folder + "/lists", "-o", "Dir::Cache=" + folder + "/cache"]
        if not (apt([*own, "update"], folder) and apt([*own, *download], folder)):
            return False
    debs = glob.glob(folder + "/*.deb")
    if not debs or not succeeds(["dpkg-deb", "-x", debs[0], folder + "/deb"]):
        return False
    wheels = glob.glob(folder + "/deb/usr/share/python-wheels/pip-*.whl")
    return bool(wheels) and install_wheel(python, wheels[0])


def apt(words, folder):
    return succeeds(["apt-get", "-qq", "-o", "Debug::NoLocking=1", *words], cwd=folder)


def install_wheel(python, wheel):
    """Install with the wheel of pip, which can run itself."""
    return succeeds([python, os.path.join(wheel, "pip"), "install", "--quiet", "--no-index", "--no-deps", wheel])


def succeeds(argv, cwd=None):
    return subprocess.run(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
