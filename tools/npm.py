"""Fetches packages from the npm registry, by name and version, without Node.js: standard library only.

Each package is checked against the hash in the lock file before anything is read from it.
"""

import base64
import hashlib
import io
import os
import re
import tarfile
import urllib.request

DEFAULT_REGISTRY = "https://registry.npmjs.org/"
LARGEST_BYTES = 64 << 20
WITHIN_S = 30


class CannotFetch(Exception):
    pass


class Package:
    """The files of one package, by their path in it."""

    def __init__(self, name, version, files):
        self.name = name
        self.version = version
        self.files = files


def fetch(name, version, integrity):
    """The package. Raises CannotFetch if the registry cannot be reached or sends something else."""
    data = download(address(name, version))
    if not matches(data, integrity):
        raise CannotFetch("%s %s is not what the lock file says" % (name, version))
    return Package(name, version, unpacked(data))


def registry():
    """As npm is configured: its environment variable, then the user's file."""
    for variable in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if os.environ.get(variable):
            return os.environ[variable].rstrip("/") + "/"
    try:
        with open(os.path.expanduser("~/.npmrc")) as f:
            found = re.search(r"(?m)^registry\s*=\s*(\S+)", f.read())
    except OSError:
        found = None
    return found.group(1).rstrip("/") + "/" if found else DEFAULT_REGISTRY


def address(name, version):
    return "%s%s/-/%s-%s.tgz" % (registry(), name, name.rpartition("/")[2], version)


def download(url):
    try:
        with urllib.request.urlopen(url, timeout=WITHIN_S) as answer:
            data = answer.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CannotFetch("%s: %s" % (url, getattr(error, "reason", None) or error)) from error
    if len(data) > LARGEST_BYTES:
        raise CannotFetch("%s is larger than %d bytes" % (url, LARGEST_BYTES))
    return data


def matches(data, integrity):
    kind, _, expected = integrity.partition("-")
    return kind == "sha512" and base64.b64encode(hashlib.sha512(data).digest()).decode() == expected


def unpacked(data):
    """Regular files only. The first part of each path, mostly `package`, is dropped."""
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            if member.isfile():
                files[member.name.partition("/")[2]] = archive.extractfile(member).read()
    return files
