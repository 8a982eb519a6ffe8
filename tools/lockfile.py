"""Reads requirements.lock: one section per purpose, each with requirements as pip reads them."""

import os
import re


def path(root):
    return os.path.join(root, "requirements.lock")


def heading(section):
    return "# [%s]" % section


def read(root):
    """Map each section to its text."""
    with open(path(root)) as f:
        parts = re.split(r"(?m)^# \[([a-z-]+)\].*\n", f.read())
    return dict(zip(parts[1::2], parts[2::2]))


def entries(text):
    """Map each package to its requirement with its hashes."""
    found = [entry.rstrip() for entry in re.split(r"(?m)^(?=\S)", text) if entry.strip()]
    return {entry.partition("==")[0]: entry for entry in found}
