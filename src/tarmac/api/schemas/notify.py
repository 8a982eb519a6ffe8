"""Targets of notifications, and what waits for them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class TargetView(Struct, kw_only=True):
    """A target. Its URL is masked: it may contain a password or a token."""

    name: str
    owner: str | None  # null: for all users
    url: str | None  # null: the config file no longer has this target
    default: bool  # for jobs of the caller without --notify
    waiting: int
    failed: int  # not delivered within a day
    error: str | None  # of the last try, if something waits or failed


class TargetList(Struct, kw_only=True):
    targets: list[TargetView]
    installed: bool  # apprise, which sends the messages


class TargetTestRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    targets: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=320)], ...], Meta(min_length=1, max_length=32)
    ]


class TargetTestResult(Struct, kw_only=True):
    target: str
    error: str | None  # null: the server accepted the message


class TargetTestAnswer(Struct, kw_only=True):
    results: list[TargetTestResult]


class NotificationsView(Struct, kw_only=True):
    """What could not be sent yet, for `tarmac status`."""

    waiting: int
    failed: int  # not delivered within a day
    target: str | None  # of the newest error
    error: str | None
    failing: list[str]  # every target whose last message could not be sent
