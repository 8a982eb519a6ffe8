"""Every setting: its meaning, how it is written, and what holds now. Live beats the config file, that the default."""

from __future__ import annotations

from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tarmac.controller.settings.checks import IN_ORDER, check_alone, check_together
from tarmac.controller.settings.per_user import per_name
from tarmac.controller.settings.quantities import KINDS, meant, show
from tarmac.controller.settings.queue_settings import QUEUE_SETTINGS
from tarmac.controller.settings.setting import Setting
from tarmac.core.model.rules import PerName, Rules
from tarmac.errors import NotFound, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping


_RULES = Rules()
SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            name="gpu_id_style",
            kind="choice",
            default="index",
            choices=("index", "uuid"),
            meaning="what CUDA_VISIBLE_DEVICES carries; some frameworks choke on UUIDs",
        ),
        Setting(
            name="grace_s",
            kind="seconds",
            default=10.0,
            meaning="between TERM and KILL, where a job does not say",
        ),
        Setting(
            name="max_cpu_jobs",
            kind="count",
            default=0,
            meaning="jobs without GPUs at once; 0: twice the cores, at least 16",
        ),
        Setting(
            name="max_memory",
            kind="fraction",
            default=_RULES.max_memory,
            meaning="a GPU on which others use at most this much memory is free for a job of its own",
        ),
        Setting(
            name="max_load",
            kind="fraction",
            default=_RULES.max_load,
            meaning="a GPU that others load at most this much is free for a job of its own",
        ),
        Setting(
            name="keep_gpu_memory",
            kind="fraction",
            default=_RULES.keep_gpu_memory,
            meaning="of each GPU, never booked by jobs that share it",
        ),
        Setting(
            name="keep_host_memory",
            kind="fraction",
            default=_RULES.keep_host_memory,
            meaning="nothing starts while less of the host's memory is available",
        ),
        Setting(
            name="healthy_s",
            kind="seconds",
            default=_RULES.healthy_s,
            meaning="a GPU that was sick is used again after it was well for this long",
        ),
        Setting(
            name="idle_load",
            kind="fraction",
            default=_RULES.idle_load,
            meaning="a job whose GPUs all do less than this is idle",
        ),
        Setting(
            name="idle_warn_s",
            kind="seconds",
            default=_RULES.idle_warn_s,
            meaning="a job that is idle for this long is marked in ls and gpus",
        ),
        Setting(
            name="idle_stop_s",
            kind="seconds",
            default=_RULES.idle_stop_s,
            meaning="a job that is idle for this long is stopped, where idle_action says so",
        ),
        Setting(
            name="idle_action",
            kind="choice",
            default=_RULES.idle_action,
            choices=("none", "warn", "stop"),
            meaning="what happens to a job that holds GPUs and does not use them; never stopped before it was marked",
        ),
        Setting(
            name="overbooked_action",
            kind="choice",
            default=_RULES.overbooked_action,
            choices=("none", "warn", "stop"),
            meaning="what happens to a job that takes more of a shared GPU than it booked",
        ),
        Setting(
            name="overbooked_s",
            kind="seconds",
            default=_RULES.overbooked_s,
            meaning="a job may take more than it booked for this long; it is stopped so much after the warning",
        ),
        Setting(
            name="notify_command",
            kind="text",
            default="",
            meaning="run with /bin/sh on a warned job, a drained GPU, a queue that pauses; TARMAC_MESSAGE says what",
        ),
        Setting(
            name="ignore_processes",
            kind="words",
            default=("Xorg", "Xwayland", "gnome-shell", "kwin_*"),
            meaning="programs on a GPU that never count as outside use, as globs",
        ),
        Setting(
            name="ignore_below",
            kind="size",
            default=64 * 1024**2,
            meaning="a process on a GPU with less memory than this never counts as outside use",
        ),
        *QUEUE_SETTINGS,
    )
}

# What the older tools called it, and what it is now.
OLD_NAMES = {
    "safety_keep_memory": "it is called keep_host_memory",
    "safety_keep_gpu_memory": "it is called keep_gpu_memory",
    "max_err_times": "Tarmac runs a job once; nothing is retried by itself",
    "timer_polling_time": "nothing to set: Tarmac is told of changes instead of polling",
    "sleep_secs": "nothing to set: Tarmac is told of changes instead of polling",
    "save_every": "nothing to set: every change is on disk before it is acknowledged",
    "use_gpus": "take GPUs out and in with `tarmac gpu drain` and `tarmac gpu resume`",
    "device_id_map": "offer a GPU several times with `tarmac gpu slots`",
    "max-load": "it is called max_load",
    "max-memory": "it is called max_memory",
    "max_run": "it is called max_queued",
    "max-run": "it is called max_queued",
    "job_limit": "it is called max_queued",
    "job limit": "it is called max_queued",
    "limit": "it is called max_gpus_per_job",
    "schedule": "it is called policy",
    "time_limit": "each job has its own: `tarmac add --time 6h`",
    "user_priority": "it is called shares: `1, ann=2`",
}

_RULE_NAMES = {"is_backfilling": "backfill"}  # what the core calls otherwise


class Settings:
    """What holds now. Values are as parsed; `live` keeps the text that was typed."""

    def __init__(self, config: Mapping[str, Any], live: Mapping[str, str]) -> None:
        self.config = dict(config)
        self.live = {name: text for name, text in live.items() if name in SETTINGS and _is_understood(name, text)}

    def __getitem__(self, name: str) -> Any:
        if name in self.live:
            return parsed(SETTINGS[name], self.live[name])
        return self.without_live(name)

    def origin(self, name: str) -> str:
        if name in self.live:
            return "live"
        return "config" if name in self.config else "default"

    def changed(self, name: str, text: str | None) -> Settings:
        """With this one as typed, or None to take it back. Raises UserError where it does not go with the others."""
        live = {key: value for key, value in self.live.items() if key != name}
        after = Settings(self.config, live if text is None else {**live, name: text})
        if name in IN_ORDER:
            check_together({key: after[key] for key in IN_ORDER})
        return after

    def without_live(self, name: str) -> Any:
        """What would hold had nobody set it."""
        return self.config.get(name, SETTINGS[name].default)

    def rules(self) -> Rules:
        names = [field.name for field in fields(Rules)]
        return Rules(**{name: self[_RULE_NAMES.get(name, name)] for name in names})

    def view(self, name: str) -> dict[str, Any]:
        setting = find(name)
        return {
            "name": setting.name,
            "value": show(setting.kind, self[setting.name]),
            "default": show(setting.kind, setting.default),
            "origin": self.origin(setting.name),
            "kind": setting.kind,
            "choices": list(setting.choices) or None,
            "meaning": setting.meaning,
        }


def find(name: str) -> Setting:
    setting = SETTINGS.get(name)
    if setting is not None:
        return setting
    old = OLD_NAMES.get(name.lower())
    if old is not None:
        raise NotFound(f"{name} is a setting of another tool", hint=old)
    near = get_close_matches(name, SETTINGS, n=1)
    raise NotFound(f"no setting {name}", hint=f"did you mean {near[0]}?" if near else "`tarmac set` lists them all")


def parsed(setting: Setting, text: Any) -> Any:
    """Raises UserError that says what is right. Takes text as typed and values as TOML has them."""
    if setting.kind == "choice":
        if text in setting.choices:
            return text
        raise UserError(
            f"{setting.name} = {text!r} is no choice", hint=f"set {setting.name} to {' or '.join(setting.choices)}"
        )
    if setting.kind == "per name":
        return _per_name(setting, text)
    read, wanted = KINDS[setting.kind]
    value = read(text)
    if value is None:
        right = meant(setting.kind, text) or wanted
        raise UserError(f"{setting.name} = {text!r} is not {wanted}", hint=f"set {setting.name} to {right}")
    check_alone(setting.name, value)
    return value


def _is_understood(name: str, text: str) -> bool:
    """What an earlier version took and this one does not is as if it had not been set."""
    try:
        parsed(SETTINGS[name], text)
    except UserError:
        return False
    return True


def _per_name(setting: Setting, text: Any) -> PerName:
    value = per_name(text, default=setting.default.default, least=setting.least)
    if isinstance(value, PerName):
        return value
    raise UserError(
        f"{setting.name} = {text!r}: {value}",
        hint=f"set {setting.name} to one number for everybody and others for some, such as `1, ann=2`",
    )
