"""The config file: TOML, every key known, every value checked. A mistake is named, never ignored."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tarmac.controller.settings.checks import IN_ORDER, check_together
from tarmac.controller.settings.quantities import size_bytes
from tarmac.controller.settings.settings import SETTINGS, parsed
from tarmac.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

LISTED = "gpus"  # GPUs that no driver tells of, as a list of tables


class ConfigError(UserError):
    """The config file cannot be used as it is."""


def load_config(path: Path) -> dict[str, Any]:
    """What it sets, by name; empty where there is no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="mend its permissions, or move it away") from error
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no valid TOML: {error}", hint="mend that line, or move the file away") from error
    found = {key: _checked(path, key, value) for key, value in given.items()}
    try:
        check_together({name: found.get(name, SETTINGS[name].default) for name in IN_ORDER})
    except UserError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error
    return found


def _checked(path: Path, key: str, value: Any) -> Any:
    if key == LISTED:
        return _listed(path, value)
    setting = SETTINGS.get(key)
    if setting is None:
        known = [*SETTINGS, LISTED]
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
        raise ConfigError(f"{path}: unknown key {key}", hint=hint)
    try:
        return parsed(setting, value)
    except UserError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


def _listed(path: Path, value: Any) -> list[dict[str, Any]]:
    """[[gpus]] with index, model and memory: for makes that Tarmac cannot read."""
    wanted = '[[gpus]] with index = 0, model = "…", memory = "24G"'
    if not isinstance(value, list) or not all(isinstance(gpu, dict) for gpu in value):
        raise ConfigError(f"{path}: gpus is no list of GPUs", hint=f"write {wanted}")
    gpus = []
    for number, gpu in enumerate(value):
        memory = size_bytes(gpu.get("memory", 0))
        index = gpu.get("index", number)
        if set(gpu) - {"index", "model", "memory"} or memory is None or not isinstance(index, int):
            raise ConfigError(f"{path}: GPU {number} of gpus is not understood", hint=f"write {wanted}")
        gpus.append({"index": index, "model": str(gpu.get("model", "")), "memory_total_bytes": memory})
    return gpus
