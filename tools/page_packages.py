"""Puts the JavaScript packages of the page into src/tarmac/web/packages, as modules that a browser loads unchanged.

Nothing is bundled: starting from the modules that page.lock lists, every module that is imported is copied, and each
import is rewritten to a relative path. The build of a wheel or an sdist runs this, and so does `make`.
"""

import hashlib
import json
import os
import posixpath
import re
import shutil
import sys
import tempfile

import npm

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEB = os.path.join(ROOT, "src", "tarmac", "web")
LOCK = os.path.join(WEB, "page.lock")
PACKAGES = os.path.join(WEB, "packages")
STAMP = "lock.sha256"

CONDITIONS = ("browser", "import", "module", "default")
IMPORT = re.compile(r"""(\bfrom\s*|\bimport\s*\(?\s*)(["'])([^"'\n]+)\2""")
LICENSE = re.compile(r"(?i)^(licen[sc]e|copying|notice)(\.\w+)?$")


def main():
    """Exit with 0 even if the packages cannot be fetched: only the page needs them."""
    try:
        install()
    except npm.CannotFetch as error:
        print("the page is not installed, the command line works: %s" % error, file=sys.stderr)


def install():
    """Fetch what is missing. Raises npm.CannotFetch."""
    with open(LOCK, "rb") as f:
        text = f.read()
    digest = hashlib.sha256(text).hexdigest()
    if stamp() == digest:
        return
    lock = json.loads(text.decode())
    packages = {name: npm.fetch(name, one["version"], one["integrity"]) for name, one in lock["packages"].items()}
    modules = Modules(packages, lock["ours"])
    for entry in lock["modules"]:
        modules.add(entry)
    write(modules.files, digest)


def stamp():
    try:
        with open(os.path.join(PACKAGES, STAMP)) as f:
            return f.read()
    except OSError:
        return None


def write(files, digest):
    """Replace the directory as a whole, so that it is never half new."""
    fresh = tempfile.mkdtemp(prefix=".packages-", dir=WEB)
    try:
        for path, data in files.items():
            target = os.path.join(fresh, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as f:
                f.write(data)
        with open(os.path.join(fresh, STAMP), "w") as f:
            f.write(digest)
        os.chmod(fresh, 0o755)
        shutil.rmtree(PACKAGES, ignore_errors=True)
        os.rename(fresh, PACKAGES)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


class Modules:
    """The files that the page needs, by their path below `packages`. An entry such as `preact/hooks` is a module."""

    def __init__(self, packages, ours):
        self._packages = packages
        self._ours = ours  # modules that Tarmac has in place of a package
        self.files = {}

    def add(self, specifier):
        """Copy a module or another file of a package, and everything it imports. Returns its path."""
        name, inside = split(specifier)
        package = self._packages.get(name)
        if package is None:
            raise KeyError("page.lock has no package %s" % name)
        return self._copy(package, located(package, inside))

    def _copy(self, package, path):
        target = posixpath.join(package.name, path)
        if target not in self.files:
            self.files[target] = b""  # in case modules import each other
            self._copy_license(package)
            data = package.files[path]
            if path.endswith((".js", ".mjs")):
                data = self._rewritten(package, path, data.decode("utf-8")).encode("utf-8")
            self.files[target] = data
        return target

    def _copy_license(self, package):
        for path, data in package.files.items():
            if LICENSE.match(path):
                self.files[posixpath.join(package.name, path)] = data

    def _rewritten(self, package, path, text):
        here = posixpath.dirname(posixpath.join(package.name, path))

        def relative(found):
            specifier = found.group(3)
            if specifier in self._ours:
                target = posixpath.join("..", self._ours[specifier])
            elif specifier.startswith("."):
                inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), specifier))
                target = self._copy(package, existing(package, inside))
            elif split(specifier)[0] in self._packages:
                target = self.add(specifier)
            else:
                return found.group(0)  # words in a comment or a string
            address = posixpath.relpath(target, here)
            return "".join((found.group(1), '"', address if address.startswith(".") else "./" + address, '"'))

        return IMPORT.sub(relative, re.sub(r"(?m)^//# sourceMappingURL=.*\n?", "", text))


def split(specifier):
    """`@scope/name/a/b` is `a/b` in the package `@scope/name`."""
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


def located(package, inside):
    """The file that a browser loads for a path of a package, as its package.json says."""
    about = json.loads(package.files["package.json"].decode("utf-8"))
    exports = about.get("exports")
    if isinstance(exports, dict):
        chosen = choice(exports.get("./" + inside if inside else "."))
        if chosen is not None:
            return posixpath.normpath(chosen)
    if inside:
        nested = "%s/package.json" % inside
        if nested in package.files:
            main = json.loads(package.files[nested].decode("utf-8")).get("module")
            return posixpath.normpath(posixpath.join(inside, main))
        return existing(package, inside)
    return posixpath.normpath(about.get("module") or about["main"])


def choice(target):
    if isinstance(target, list):
        return next((found for found in map(choice, target) if found is not None), None)
    if isinstance(target, dict):
        found = (choice(one) for condition, one in target.items() if condition in CONDITIONS)
        return next((one for one in found if one is not None), None)
    return target


def existing(package, path):
    for candidate in (path, path + ".js", path + ".mjs", path + "/index.js"):
        if candidate in package.files:
            return candidate
    raise KeyError("%s has no %s" % (package.name, path))


if __name__ == "__main__":
    main()
