"""The environment of a job that was typed into a form: a browser has none, so it gets the basic variables only.

As with `--no-env`, a job finds its programs, its user and its language. The controller's other variables stay its own.
"""

from __future__ import annotations

import os
import pwd

from tarmac.controller.submit.environment.environment import is_basic


def home_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:  # in containers a uid often has no account
        return os.environ.get("HOME", "/") if uid == os.getuid() else "/"


def form_environment(uid: int) -> dict[str, str]:
    """PATH, LANG and the like of the controller; HOME, USER and SHELL of the account."""
    found = {name: value for name, value in os.environ.items() if is_basic(name)}
    try:
        account = pwd.getpwuid(uid)
    except KeyError:
        return found | {"HOME": home_of(uid)}
    return found | {
        "HOME": account.pw_dir, "USER": account.pw_name, "LOGNAME": account.pw_name, "SHELL": account.pw_shell,
    }  # fmt: skip
