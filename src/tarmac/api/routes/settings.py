"""Settings: list, show, change and reset them while Tarmac runs."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.settings import SettingList, SettingRequest, SettingView
from tarmac.controller.settings.kinds import parsed
from tarmac.controller.settings.table import SETTINGS, find


async def list_settings(context: Context) -> SettingList:
    """List every setting with its meaning, value, default and origin."""
    return SettingList(settings=[_view(context, name) for name in SETTINGS])


async def show_setting(context: Context, name: str) -> SettingView:
    return _view(context, name)


async def change_setting(context: Context, name: str, body: SettingRequest) -> SettingView:
    """Change a setting, at once and permanently. The value is written as on the command line."""
    setting = find(name)
    parsed(setting, body.value)
    changed = await context.controller.change_setting(setting.name, lambda _: body.value)
    return SettingView(**changed.view(setting.name))


async def reset_setting(context: Context, name: str) -> SettingView:
    """Reset a setting to its value in the config file, or to its default."""
    setting = find(name)
    changed = await context.controller.change_setting(setting.name, lambda _: None)
    return SettingView(**changed.view(setting.name))


def _view(context: Context, name: str) -> SettingView:
    return SettingView(**context.controller.settings.view(name))
