"""Settings: looked at and changed while everything runs."""

from __future__ import annotations

from typing import Any

from tarmac.api.deps import Context
from tarmac.api.schemas.settings import SettingRequest
from tarmac.controller.settings.settings import SETTINGS, find, parsed


async def list_settings(context: Context) -> dict[str, Any]:
    """Every setting with its meaning, value, default and origin."""
    return {"settings": [context.controller.settings.view(name) for name in SETTINGS]}


async def show_setting(context: Context, name: str) -> dict[str, Any]:
    return context.controller.settings.view(name)


async def change_setting(context: Context, name: str, body: SettingRequest) -> dict[str, Any]:
    """In force at once, and kept over restarts. The value is written as one would type it."""
    setting = find(name)
    parsed(setting, body.value)
    await context.controller.change_setting(setting.name, body.value)
    return context.controller.settings.view(setting.name)


async def reset_setting(context: Context, name: str) -> dict[str, Any]:
    """Back to the config file, or the default."""
    setting = find(name)
    await context.controller.change_setting(setting.name, None)
    return context.controller.settings.view(setting.name)
