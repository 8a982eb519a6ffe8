"""Settings."""

from __future__ import annotations

from msgspec import Struct


class SettingView(Struct, kw_only=True):
    name: str
    value: str
    default: str
    origin: str
    kind: str
    choices: list[str] | None
    meaning: str


class SettingList(Struct, kw_only=True):
    settings: list[SettingView]


class SettingRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    value: str
