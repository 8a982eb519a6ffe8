"""The table of settings: each declared once, with its kind, bounds, default and meaning."""

from __future__ import annotations

from difflib import get_close_matches

from tarmac.controller.settings.old_names import present_name, refusal_of_old_name
from tarmac.controller.settings.queue_settings import QUEUE_SETTINGS
from tarmac.controller.settings.setting import Setting
from tarmac.controller.settings.snapshot_settings import SNAPSHOT_SETTINGS
from tarmac.core.model.rules import Rules
from tarmac.refusal import not_found
from tarmac.shared.units import DAY_S, HOUR_S

_RULES = Rules()
SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            name="gpu_id_style",
            group="gpus",
            kind="choice",
            default="index",
            choices=("index", "uuid"),
            meaning="what CUDA_VISIBLE_DEVICES contains; some frameworks do not accept UUIDs",
        ),
        Setting(
            name="grace_s",
            group="jobs",
            kind="seconds",
            default=10.0,
            most=DAY_S,
            meaning="time between SIGTERM and SIGKILL for jobs without --grace",
        ),
        Setting(
            name="max_cpu_jobs",
            group="limits",
            kind="count",
            default=0,
            meaning="jobs without GPUs that run at once; 0: twice the CPU cores, at least 16",
        ),
        Setting(
            name="max_memory",
            group="gpus",
            kind="fraction",
            default=_RULES.max_memory,
            meaning="a GPU is free for an exclusive job if foreign processes use at most this fraction of its memory",
        ),
        Setting(
            name="max_load",
            group="gpus",
            kind="fraction",
            default=_RULES.max_load,
            meaning="a GPU is free for an exclusive job if foreign processes load it at most this much",
        ),
        Setting(
            name="keep_gpu_memory",
            group="gpus",
            kind="fraction",
            default=_RULES.keep_gpu_memory,
            meaning="fraction of each GPU that jobs sharing it cannot book",
        ),
        Setting(
            name="keep_host_memory",
            group="gpus",
            kind="fraction",
            default=_RULES.keep_host_memory,
            meaning="no job starts while a smaller fraction of the host's memory is available",
        ),
        Setting(
            name="healthy_s",
            group="gpus",
            kind="seconds",
            default=_RULES.healthy_s,
            meaning="an unhealthy GPU is used again after it has been healthy for this long",
        ),
        Setting(
            name="idle_load",
            group="waste",
            kind="fraction",
            default=_RULES.idle_load,
            meaning="a job is idle if all its GPUs are loaded less than this",
        ),
        Setting(
            name="idle_warn_s",
            group="waste",
            kind="seconds",
            least=1,  # with 0, every job would be warned as soon as it starts
            default=_RULES.idle_warn_s,
            meaning="a job that is idle for this long is marked in ls and gpus",
        ),
        Setting(
            name="idle_stop_s",
            group="waste",
            kind="seconds",
            default=_RULES.idle_stop_s,
            meaning="a job that is idle for this long is stopped if idle_action is stop",
        ),
        Setting(
            name="idle_action",
            group="waste",
            kind="choice",
            default=_RULES.idle_action,
            choices=("none", "warn", "stop"),
            meaning="what happens to a job that holds GPUs without using them; it is marked before it is stopped",
        ),
        Setting(
            name="overbooked_action",
            group="waste",
            kind="choice",
            default=_RULES.overbooked_action,
            choices=("none", "warn", "stop"),
            meaning="what happens to a job that uses more of a shared GPU than it booked",
        ),
        Setting(
            name="overbooked_s",
            group="waste",
            kind="seconds",
            default=_RULES.overbooked_s,
            meaning="a job may use more than it booked for this long, and as long again after the warning",
        ),
        Setting(
            name="log_limit",
            group="jobs",
            kind="size",
            default=0,
            meaning="the output of an attempt takes at most this much: older output is removed; 0: no limit",
        ),
        Setting(
            name="history_limit",
            group="history",
            kind="count",
            default=0,
            meaning="ended jobs that are kept; older ones are removed with their logs; 0: no limit",
        ),
        Setting(
            name="history_keep_s",
            group="history",
            kind="seconds",
            default=0.0,
            meaning="ended jobs are removed with their logs after this long; 0: never",
        ),
        Setting(
            name="history_dump",
            group="history",
            kind="text",
            default="",
            meaning="file that jobs are appended to before they are removed, also by `tarmac clean`; "
            "`tarmac import` reads it",
        ),
        Setting(
            name="notify_command",
            group="notifications",
            kind="text",
            default="",
            meaning="run with /bin/sh when a job is warned, a GPU or a node is drained, a user is suspended or a "
            "reservation is released; see TARMAC_MESSAGE",
        ),
        Setting(
            name="notify_digest_s",
            group="notifications",
            kind="seconds",
            default=10.0,
            most=DAY_S,
            meaning="events for a target of notifications are collected for this long and sent as one message",
        ),
        Setting(
            name="notify_retry_s",
            group="notifications",
            kind="seconds",
            least=1,
            default=30.0,
            most=HOUR_S,
            meaning="a notification that could not be sent is sent again after this long, then twice as long, up to 1h",
        ),
        Setting(
            name="gpu_idle_s",
            group="notifications",
            kind="seconds",
            least=1,
            default=float(HOUR_S),
            meaning="the event gpu-idle: a GPU is free for this long while jobs wait for GPUs",
        ),
        Setting(
            name="ignore_processes",
            group="gpus",
            kind="words",
            default=("Xorg", "Xwayland", "gnome-shell", "kwin_*"),
            meaning="programs that never count as foreign processes on a GPU, as glob patterns",
        ),
        Setting(
            name="ignore_below",
            group="gpus",
            kind="size",
            default=64 * 1024**2,
            meaning="a process that uses less GPU memory than this never counts as foreign",
        ),
        *SNAPSHOT_SETTINGS,
        *QUEUE_SETTINGS,
    )
}


def find(name: str) -> Setting:
    """Refuses an unknown name, with the nearest known one or what replaces it."""
    setting = SETTINGS.get(present_name(name))
    if setting is not None:
        return setting
    if (refused := refusal_of_old_name(name)) is not None:
        raise refused
    near = get_close_matches(name, SETTINGS, n=1)
    if near:
        raise not_found("setting.misspelled", name=name, near=near[0])
    raise not_found("setting.unknown", name=name)
