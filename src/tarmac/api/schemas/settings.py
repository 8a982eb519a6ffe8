"""Settings."""

from __future__ import annotations

from msgspec import Struct

from tarmac.controller.settings.setting import Group


class SettingView(Struct, kw_only=True):
    name: str
    value: str
    default: str
    origin: str
    kind: str
    choices: list[str] | None
    meaning: str
    group: Group


class SettingList(Struct, kw_only=True):
    settings: list[SettingView]
    groups: list[Group]  # in the order in which a list shows them


class SettingRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    value: str
