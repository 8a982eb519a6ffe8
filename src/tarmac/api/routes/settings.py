"""Settings: looked at and changed while everything runs."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.settings import SettingList, SettingRequest, SettingView
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.table import SETTINGS, find


async def list_settings(context: Context) -> SettingList:
    """Every setting with its meaning, value, default and origin."""
    return SettingList(settings=[_view(context, name) for name in SETTINGS])


async def show_setting(context: Context, name: str) -> SettingView:
    return _view(context, name)


async def change_setting(context: Context, name: str, body: SettingRequest) -> SettingView:
    """In force at once, and kept over restarts. The value is written as one would type it."""
    setting = find(name)
    parsed(setting, body.value)
    await context.controller.change_setting(setting.name, body.value)
    return _view(context, setting.name)


async def reset_setting(context: Context, name: str) -> SettingView:
    """Back to the config file, or the default."""
    setting = find(name)
    await context.controller.change_setting(setting.name, None)
    return _view(context, setting.name)


def _view(context: Context, name: str) -> SettingView:
    return SettingView(**context.controller.settings.view(name))
