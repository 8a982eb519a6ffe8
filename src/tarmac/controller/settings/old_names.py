"""What other GPU schedulers call a setting, and what replaces it here."""

from __future__ import annotations

from tarmac.refusal import Refused, not_found

RENAMED = {
    "safety_keep_memory": "keep_host_memory",
    "safety_keep_gpu_memory": "keep_gpu_memory",
    "max-load": "max_load",
    "max-memory": "max_memory",
    "max_run": "max_queued",
    "max-run": "max_queued",
    "job_limit": "max_queued",
    "job limit": "max_queued",
    "limit": "max_gpus_per_job",
    "schedule": "policy",
}
REPLACED = {
    "max_err_times": "retries",
    "timer_polling_time": "polling",
    "sleep_secs": "polling",
    "save_every": "saving",
    "use_gpus": "drain",
    "device_id_map": "slots",
    "time_limit": "time_limit",
    "user_priority": "shares",
}


def refusal_of_old_name(name: str) -> Refused | None:
    """None where no other tool has a setting of that name."""
    known = name.lower()
    if known in RENAMED:
        return not_found("setting.renamed", name=name, now=RENAMED[known])
    if known in REPLACED:
        return not_found("setting.of_another_tool", name=name, instead=REPLACED[known])
    return None
