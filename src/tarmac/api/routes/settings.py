"""Settings: looked at and changed while everything runs."""

from __future__ import annotations

from typing import Any

from litestar import delete, get, put
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody

from tarmac.api import schemas
from tarmac.api.deps import Caller, EngineDep
from tarmac.controller.permissions import need_admin
from tarmac.controller.settings.settings import SETTINGS, find, parsed

_ONE = {200: ResponseSpec(schemas.SettingView, description="as it is now")}


@get("/settings", responses={200: ResponseSpec(schemas.SettingList, description="all of them")})
async def list_settings(engine: EngineDep, caller: Caller) -> dict[str, Any]:  # noqa: ARG001 - checks the caller
    """Every setting with its meaning, value, default and origin."""
    return {"settings": [engine.settings.view(name) for name in SETTINGS]}


@get("/settings/{name:str}", responses=_ONE)
async def show_setting(engine: EngineDep, caller: Caller, name: FromPath[str]) -> dict[str, Any]:  # noqa: ARG001
    return engine.settings.view(name)


@put("/settings/{name:str}", responses=_ONE)
async def change_setting(
    engine: EngineDep,
    caller: Caller,
    name: FromPath[str],
    data: JSONBody[schemas.SettingRequest],
) -> dict[str, Any]:
    """In force at once, and kept over restarts. The value is written as one would type it."""
    setting = find(name)
    need_admin(caller, engine.settings, "change settings")
    parsed(setting, data.value)
    await engine.set(setting.name, data.value)
    return engine.settings.view(setting.name)


@delete("/settings/{name:str}", status_code=200, responses=_ONE)
async def reset_setting(engine: EngineDep, caller: Caller, name: FromPath[str]) -> dict[str, Any]:
    """Back to the config file, or the default."""
    setting = find(name)
    need_admin(caller, engine.settings, "change settings")
    await engine.set(setting.name, None)
    return engine.settings.view(setting.name)
