"""The caller's own defaults for the options of jobs."""

from __future__ import annotations

from msgspec import Struct


class DefaultOption(Struct, kw_only=True):
    """`value`: as in the config file. Of a secret option, only the names are shown."""

    name: str
    value: str
    help: str


class DefaultsView(Struct, kw_only=True):
    """`problem`: why the config file cannot be read. Then `options` is empty."""

    path: str
    options: list[DefaultOption]
    problem: str | None
    hint: str | None
