"""The caller's own defaults: `[defaults]` of the config file, which the command line uses for every submit."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from tarmac.api.deps import Context
from tarmac.api.schemas.defaults import DefaultOption, DefaultsView
from tarmac.api.wording.catalogue.catalogue import say_declared
from tarmac.api.wording.refusals import refusal
from tarmac.controller.requests.permissions import account
from tarmac.controller.settings.config import DEFAULTS, load_config
from tarmac.paths import config_path
from tarmac.refusal import Refused, not_allowed
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.secret_names import MASK

BY_NAME = {option.name: option for option in JOB_OPTIONS}


async def show_defaults(context: Context) -> DefaultsView:
    """Show the defaults of the config file as it is now. The command line reads the file at every submit, too."""
    if context.caller.uid != os.getuid():
        raise not_allowed("config.of_another_user", owner=account(os.getuid()))
    path = Path(config_path())
    try:
        found = await asyncio.to_thread(load_config, path)
    except Refused as refused:
        words = refusal(refused)
        return DefaultsView(path=str(path), options=[], problem=words.message, hint=words.hint)
    options = [_option(name, value) for name, value in found.get(DEFAULTS, {}).items()]
    return DefaultsView(path=str(path), options=options, problem=None, hint=None)


def _option(key: str, value: Any) -> DefaultOption:
    option = BY_NAME[key.replace("-", "_")]
    shown = _masked(value) if option.is_secret else value
    return DefaultOption(
        name=option.flag[2:], value=_as_toml(shown), help=say_declared(f"option.{option.name}", option.help)
    )


def _masked(value: Any) -> Any:
    """`NAME=***` for `NAME=VALUE`."""
    if isinstance(value, list):
        return [_masked(one) for one in value]
    name, equals, _ = str(value).partition("=")
    return f"{name}={MASK}" if equals else name


def _as_toml(value: Any) -> str:
    """Values of TOML are those of JSON, but for dates, which no option has."""
    return json.dumps(value, ensure_ascii=False, default=str)
