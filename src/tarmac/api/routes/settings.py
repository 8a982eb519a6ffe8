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
    return await _changed(context, setting.name, body.value)


async def reset_setting(context: Context, name: str) -> SettingView:
    """Reset a setting to its value in the config file, or to its default."""
    return await _changed(context, find(name).name, None)


async def _changed(context: Context, name: str, text: str | None) -> SettingView:
    if context.is_carried_out:
        return _view(context, name)
    changed = await context.controller.change_setting(name, lambda _: text, context.key)
    return SettingView(**changed.view(name))


def _view(context: Context, name: str) -> SettingView:
    return SettingView(**context.controller.settings.view(name))
