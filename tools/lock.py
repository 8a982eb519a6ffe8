"""Writes requirements.lock from pyproject.toml: `make lock`. `tools/bootstrap.py` installs from it.

Uses uv, which resolves for all Python versions and machines at once. If the machine does not have uv, a copy is fetched
into a temporary directory.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import lockfile
import pipconf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = """\
# The packages that `make demo`, `make test` and CI install, with the hashes of their files.
# Written by `make lock` from pyproject.toml. Do not edit.
"""
SECTIONS = {
    "build": (["--group", "build"], "what builds Tarmac"),
    "run": (["pyproject.toml"], "what Tarmac needs to run"),
    "build-dev": (["--group", "build-dev"], "what builds those packages of the next section that have no wheel"),
    "dev": (["pyproject.toml", "--extra", "dev"], "what tests and checks need"),
}
EVERYTHING = ["pyproject.toml", "--extra", "dev", "--group", "build", "--group", "build-dev"]


def main():
    with tempfile.TemporaryDirectory(prefix="tarmac-lock-") as folder:
        uv = shutil.which("uv") or fetch_uv(folder)
        pins = os.path.join(folder, "pins.txt")
        resolve(uv, EVERYTHING, pins)
        sections = {}
        for name, (words, _) in SECTIONS.items():
            path = os.path.join(folder, name + ".txt")
            resolve(uv, [*words, "--constraint", pins], path)
            with open(path) as f:
                sections[name] = lockfile.entries(f.read())
    with open(lockfile.path(ROOT), "w") as f:
        f.write(render(sections))


def fetch_uv(folder):
    run([sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--target", folder, "uv"])
    return os.path.join(folder, "bin", "uv")


def resolve(uv, words, path):
    index = pipconf.read().get("index-url")
    run(
        [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
        + ["--no-header", "--no-annotate", "--output-file", path, *words]
        + (["--default-index", index] if index else [])
    )


def render(sections):
    """Name each package once, in the first section that needs it: sections are installed in this order."""
    lines = [HEADER]
    named = set()
    for name, packages in sections.items():
        lines.append(lockfile.heading(name) + ": " + SECTIONS[name][1])
        lines += [packages[package] for package in sorted(packages) if package not in named]
        lines.append("")
        named |= set(packages)
    return "\n".join(lines).rstrip() + "\n"


def run(argv):
    done = subprocess.run(argv, cwd=ROOT)
    if done.returncode != 0:
        sys.exit("lock: command failed: " + " ".join(argv))


if __name__ == "__main__":
    main()
