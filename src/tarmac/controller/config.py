"""The config file: TOML, every key known, every value checked. A mistake is named, never ignored."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tarmac.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _default_cpu_job_slots() -> int:
    return max(16, 2 * (os.cpu_count() or 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What can be set. `docs/configuration.md` tells each; a test holds the two together."""

    gpu_id_style: str = "index"  # what CUDA_VISIBLE_DEVICES carries: index or uuid
    grace_s: float = 10.0  # between TERM and KILL, where a job does not say
    max_cpu_jobs: int = 0  # jobs without GPUs at once; 0: twice the cores, at least 16

    @property
    def cpu_job_slots(self) -> int:
        return self.max_cpu_jobs or _default_cpu_job_slots()


class ConfigError(UserError):
    """The config file cannot be used as it is."""


def load_config(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="mend its permissions, or move it away") from error
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is no valid TOML: {error}", hint="mend that line, or move the file away") from error
    return Config(**{key: _checked(path, key, value) for key, value in given.items()})


def _checked(path: Path, key: str, value: Any) -> Any:
    check = _CHECKS.get(key)
    if check is None:
        near = get_close_matches(key, _CHECKS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(_CHECKS)}"
        raise ConfigError(f"{path}: unknown key {key}", hint=hint)
    wanted = check(value)
    if wanted is not None:
        raise ConfigError(f"{path}: {key} = {value!r} is not {wanted}", hint=f"set {key} to {wanted}")
    return value


def _one_of(*words: str) -> Callable[[Any], str | None]:
    return lambda value: None if value in words else " or ".join(f'"{word}"' for word in words)


def _is_number(value: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _seconds(value: Any) -> str | None:
    return None if _is_number(value, (int, float)) and 0 <= value <= 86400 else "a number of seconds from 0 to 86400"


def _count(value: Any) -> str | None:
    return None if _is_number(value, (int,)) and 0 <= value <= 100_000 else "a whole number from 0 to 100000"


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "gpu_id_style": _one_of("index", "uuid"),
    "grace_s": _seconds,
    "max_cpu_jobs": _count,
}
assert list(_CHECKS) == [field.name for field in fields(Config)], "every setting has its check"
