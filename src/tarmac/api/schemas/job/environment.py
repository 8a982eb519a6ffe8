"""The environment that a job was submitted with."""

from __future__ import annotations

from msgspec import Struct


class Variable(Struct, kw_only=True):
    """`value` is null for a variable that looks like a secret: secrets are never shown."""

    name: str
    value: str | None
    is_secret: bool


class EnvironmentView(Struct, kw_only=True):
    variables: list[Variable]
