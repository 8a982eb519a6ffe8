"""What a node says about itself when a link to its agent begins."""

from __future__ import annotations

import msgspec


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Whom jobs on the node run as."""

    user: str
    home: str
    shell: str


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    state: str  # the agent's state directory
    started_pid: int  # of the agent, if this link started it
    boot_id: str
    account: Account
    others: list[str]  # controllers that have an agent there as well
    logout: list[str]  # what ends or harms jobs when the account logs out; see agent/remote/logout.py
