"""Settings: list, show, change and reset them while Tarmac runs."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

from tarmac.api.deps import Context
from tarmac.api.schemas.settings import SettingList, SettingRequest, SettingView
from tarmac.api.wording.catalogue.catalogue import say_declared
from tarmac.controller.history.dump_file import refuse_unusable
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.setting import Group
from tarmac.controller.settings.table import SETTINGS, find


async def list_settings(context: Context) -> SettingList:
    """List every setting with its meaning, value, default and origin."""
    return SettingList(settings=[_view(context, name) for name in SETTINGS], groups=[*get_args(Group)])


async def show_setting(context: Context, name: str) -> SettingView:
    return _view(context, name)


async def change_setting(context: Context, name: str, body: SettingRequest) -> SettingView:
    """Change a setting, at once and permanently. The value is written as on the command line."""
    setting = find(name)
    value = parsed(setting, body.value)
    if setting.name == "history_dump" and value and not context.is_carried_out:
        await asyncio.to_thread(refuse_unusable, value)
    return await _changed(context, setting.name, body.value)


async def reset_setting(context: Context, name: str) -> SettingView:
    """Reset a setting to its value in the config file, or to its default."""
    return await _changed(context, find(name).name, None)


async def _changed(context: Context, name: str, text: str | None) -> SettingView:
    if context.is_carried_out:
        return _view(context, name)
    changed = await context.controller.change_setting(name, lambda _: text, context.key)
    return _worded(changed.view(name))


def _view(context: Context, name: str) -> SettingView:
    return _worded(context.controller.settings.view(name))


def _worded(view: dict[str, Any]) -> SettingView:
    """In the reader's language."""
    view["meaning"] = say_declared(f"setting.{view['name']}", view["meaning"])
    return SettingView(**view)
