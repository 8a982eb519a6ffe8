"""Checks the types of the page, which are written as JSDoc: `make check` runs this. tsconfig.json has the rules.

The compiler and the types of the packages are fetched into .venv, by the hashes in lock files. The compiler is a native
program, so Node.js is not needed. Where it cannot be fetched, one line says that types were not checked; in CI, this is
a failure.
"""

import hashlib
import json
import os
import platform
import posixpath
import shutil
import subprocess
import sys
import tempfile

import npm
import page_packages

ROOT = page_packages.ROOT
LOCK = os.path.join(ROOT, "tools", "typescript.lock")
HOME = os.path.join(ROOT, ".venv", "page-types")
STAMP = "locks.sha256"
DECLARATIONS = (".d.ts", ".d.mts", "package.json")


def main():
    try:
        install()
    except npm.CannotFetch as error:
        print("the types of the page were not checked: %s" % error, file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    return subprocess.run([os.path.join(HOME, "typescript", "lib", "tsc"), "--project", ROOT], cwd=ROOT).returncode


def install():
    """Fetch what is missing. Raises npm.CannotFetch."""
    digest = hashlib.sha256()
    locks = []
    for path in (LOCK, page_packages.LOCK):
        with open(path, "rb") as f:
            text = f.read()
        digest.update(text)
        locks.append(json.loads(text.decode()))
    if stamp() == digest.hexdigest():
        return
    compiler, page = locks
    files = compiler_files(compiler, platform.machine())
    files.update(declarations(page))
    files[STAMP] = digest.hexdigest().encode()
    write(files)


def stamp():
    try:
        with open(os.path.join(HOME, STAMP)) as f:
            return f.read()
    except OSError:
        return None


def compiler_files(lock, machine):
    one = lock["packages"].get(machine)
    if one is None:
        raise npm.CannotFetch("typescript.lock names no compiler for %s" % machine)
    package = npm.fetch(one["name"], lock["version"], one["integrity"])
    return {posixpath.join("typescript", path): data for path, data in package.files.items()}


def declarations(lock):
    """The types of all packages, and at the address of each module one line that leads to its types."""
    files = {}
    packages = {name: npm.fetch(name, one["version"], one["integrity"]) for name, one in lock["packages"].items()}
    for name, package in packages.items():
        for path, data in package.files.items():
            if path.endswith(DECLARATIONS):
                files[posixpath.join("node_modules", name, path)] = data
    for specifier in lock["modules"]:
        name, inside = page_packages.split(specifier)
        stem, kind = posixpath.splitext(page_packages.located(packages[name], inside))
        if kind in (".js", ".mjs"):
            address = posixpath.join("packages", name, stem + (".d.mts" if kind == ".mjs" else ".d.ts"))
            files[address] = ('export * from "%s";\nexport { default } from "%s";\n' % (specifier, specifier)).encode()
    return files


def write(files):
    """Replace the directory as a whole, so that it is never half new."""
    fresh = tempfile.mkdtemp(prefix="page-types-", dir=os.path.dirname(HOME))
    try:
        for path, data in files.items():
            target = os.path.join(fresh, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(data)
        os.chmod(os.path.join(fresh, "typescript", "lib", "tsc"), 0o755)
        shutil.rmtree(HOME, ignore_errors=True)
        os.rename(fresh, HOME)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


if __name__ == "__main__":
    sys.exit(main())
