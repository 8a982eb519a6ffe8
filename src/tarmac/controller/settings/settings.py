"""The settings in force, from three layers: live values override the config file, which overrides the defaults."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tarmac.controller.settings.checks import check_order
from tarmac.controller.settings.kinds import parsed, show
from tarmac.controller.settings.old_names import with_present_names
from tarmac.controller.settings.table import SETTINGS, find
from tarmac.core.model.rules import Rules
from tarmac.records import dataclass
from tarmac.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

GpuIdStyle: TypeAlias = Literal["index", "uuid"]
Origin: TypeAlias = Literal["live", "config", "default"]
IN_ORDER = {"idle_warn_s", "idle_stop_s"}
_RULE_NAMES = {"is_backfilling": "backfill"}  # rules of the core whose name differs from their setting


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The value of every setting. The rules of the core are settings of the same name."""

    rules: Rules
    gpu_id_style: GpuIdStyle
    grace_s: float
    retries: int
    log_limit: int  # bytes; 0: none
    history_limit: int  # ended jobs; 0: none
    history_keep_s: float  # 0: for ever
    history_dump: str  # empty: none
    notify_command: str
    notify_digest_s: float
    notify_retry_s: float
    gpu_idle_s: float
    ignore_processes: tuple[str, ...]
    ignore_below: int  # bytes
    snapshot: bool
    snapshot_limit: int  # bytes
    snapshot_keep_s: float
    snapshot_keep_size: int  # bytes; 0: no limit
    checkout_keep_s: float
    admins: tuple[str, ...]


def in_force(values: Mapping[str, Any]) -> InForce:
    """The record of values by the names of the table."""
    rules = Rules(**{field.name: values[_RULE_NAMES.get(field.name, field.name)] for field in fields(Rules)})
    others = {field.name: values[field.name] for field in fields(InForce) if field.name != "rules"}
    return InForce(rules=rules, **others)


class Settings:
    """The layers and the values in force. Immutable: a change creates a new record. `live` contains texts as typed."""

    def __init__(self, config: Mapping[str, Any], live: Mapping[str, str]) -> None:
        self.config = dict(config)
        stored = with_present_names(live)
        self.live = {name: text for name, text in stored.items() if name in SETTINGS and _is_valid(name, text)}
        self.in_force = in_force({name: self._value(name) for name in SETTINGS})

    def origin(self, name: str) -> Origin:
        if name in self.live:
            return "live"
        return "config" if name in self.config else "default"

    def changed(self, name: str, text: str | None) -> Settings:
        """With this setting as typed, or without it for None. Refuses a value that contradicts another setting."""
        live = {key: value for key, value in self.live.items() if key != name}
        after = Settings(self.config, live if text is None else {**live, name: text})
        if name in IN_ORDER:
            rules = after.in_force.rules
            check_order(idle_warn_s=rules.idle_warn_s, idle_stop_s=rules.idle_stop_s)
        return after

    def without_live(self, name: str) -> Any:
        """The value of the config file, or the default."""
        return self.config.get(name, SETTINGS[name].default)

    def _value(self, name: str) -> Any:
        return parsed(SETTINGS[name], self.live[name]) if name in self.live else self.without_live(name)

    def view(self, name: str) -> dict[str, Any]:
        setting = find(name)
        return {
            "name": setting.name,
            "value": show(setting.kind, self._value(setting.name)),
            "default": show(setting.kind, setting.default),
            "origin": self.origin(setting.name),
            "kind": setting.kind,
            "choices": list(setting.choices) or None,
            "meaning": setting.meaning,
            "group": setting.group,
        }


def _is_valid(name: str, text: str) -> bool:
    """A live value that an earlier version accepted and this one refuses counts as not set."""
    try:
        parsed(SETTINGS[name], text)
    except Refused:
        return False
    return True
