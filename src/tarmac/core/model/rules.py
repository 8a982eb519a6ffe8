"""The settings that take part in scheduling decisions."""

from __future__ import annotations

from dataclasses import dataclass

from tarmac.core.model.names import Action, Policy


@dataclass(frozen=True, slots=True)
class PerName:
    """One number for everybody, and others for some."""

    default: float
    of: tuple[tuple[str, float], ...] = ()

    def __call__(self, name: str | None) -> float:
        return next((number for known, number in self.of if known == name), self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The settings that decide. Fractions of a whole GPU or host; a limit of 0 is none."""

    policy: Policy = "balance"
    shares: PerName = PerName(1.0)
    half_life_s: float = 7 * 86400.0  # after which GPU-hours count half, for fairshare
    is_backfilling: bool = True
    starvation_s: float = 3600.0  # GPUs are kept back for a wide job that waits longer, where no end is known
    max_gpus_per_user: PerName = PerName(0.0)  # running at once
    max_gpus_per_project: PerName = PerName(0.0)
    max_queued_per_user: PerName = PerName(0.0)  # jobs that wait
    max_queued_per_project: PerName = PerName(0.0)
    gpu_hours_per_user: PerName = PerName(0.0)  # within the last seven days
    gpu_hours_per_project: PerName = PerName(0.0)
    max_gpus_per_job: int = 0
    max_queued: int = 0
    no_show_s: float = 900.0  # a reservation that nobody came for is released
    reserve_ahead_s: float = 86400.0  # this long before one begins, jobs without a known end keep off its GPUs
    pause_after_failures: int = 10  # jobs in a row that failed within fail_fast_s
    fail_fast_s: float = 10.0

    max_memory: float = 0.1  # outside use of a GPU up to here does not keep a job off it
    max_load: float = 0.1
    keep_gpu_memory: float = 0.0  # of each GPU, never booked by jobs that share it
    keep_host_memory: float = 0.2  # nothing starts while less than this is available
    max_cpu_jobs: int = 0  # jobs without GPUs at once on a node; 0: as many as it offers itself
    healthy_s: float = 300.0  # a GPU that was sick comes back after it was well for this long
    idle_load: float = 0.05  # a job whose GPUs all do less than this is idle
    idle_warn_s: float = 1800.0
    idle_stop_s: float = 7200.0
    idle_action: Action = "none"
    overbooked_action: Action = "warn"  # a job that takes more of a shared GPU than it booked
    overbooked_s: float = 30.0  # so long it may; it is stopped so much later again at the earliest
