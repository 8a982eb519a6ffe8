"""The settings that take part in scheduling decisions."""

from __future__ import annotations

from tarmac.core.model.names import Action, Order, Placement, Policy
from tarmac.records import dataclass


@dataclass(frozen=True, slots=True)
class PerName:
    """A default number, and exceptions by name."""

    default: float
    of: tuple[tuple[str, float], ...] = ()

    def __call__(self, name: str | None) -> float:
        if not self.of:  # mostly, and a scheduling pass asks about each owner
            return self.default
        return next((number for known, number in self.of if known == name), self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Scheduling settings. Fractions refer to a whole GPU or host; a limit of 0 means no limit."""

    policy: Policy = "balance"
    order: Order = "submitted"  # of one owner's jobs with the same priority
    placement: Placement = "pack"  # of jobs over nodes
    shares: PerName = PerName(1.0)
    half_life_s: float = 7 * 86400.0  # fairshare: GPU-hours this old count half
    is_backfilling: bool = True
    planned_starts: int = 8  # jobs that GPUs are held back for at once; under fifo one at most
    starvation_s: float = 3600.0  # a wide job that others have passed for longer goes first
    max_gpus_per_user: PerName = PerName(0.0)  # running at once
    max_gpus_per_project: PerName = PerName(0.0)
    max_queued_per_user: PerName = PerName(0.0)  # waiting jobs
    max_queued_per_project: PerName = PerName(0.0)
    gpu_hours_per_user: PerName = PerName(0.0)  # in the last seven days
    gpu_hours_per_project: PerName = PerName(0.0)
    max_gpus_per_job: int = 0
    max_queued: int = 0
    no_show_s: float = 900.0  # an unused reservation is released after this
    reserve_ahead_s: float = (
        86400.0  # jobs without a known end avoid reserved GPUs this long before the reservation begins
    )
    suspend_after_failures: int = 10  # consecutive jobs of one owner that failed within fail_fast_s
    fail_fast_s: float = 10.0
    drain_node_after_failures: int = 3  # consecutive jobs on one node that failed within fail_fast_s
    retry_delay_s: float = 10.0  # before the second retry of a job; doubled for each further one
    retry_max_delay_s: float = 600.0

    max_memory: float = 0.1  # foreign memory use up to this fraction is tolerated
    max_load: float = 0.1
    keep_gpu_memory: float = 0.0  # fraction of each shared GPU that is never booked
    keep_host_memory: float = 0.2  # no job starts while less than this is available
    max_cpu_jobs: int = 0  # jobs without GPUs per node at once; 0: the node's own number of slots
    healthy_s: float = 300.0  # an unhealthy GPU is resumed after it was healthy for this long
    idle_load: float = 0.05  # a job is idle if the load of all its GPUs is below this
    idle_warn_s: float = 1800.0
    idle_stop_s: float = 7200.0
    idle_action: Action = "none"
    overbooked_action: Action = "warn"  # for a job that uses more of a shared GPU than it booked
    overbooked_s: float = 30.0  # delay before the warning, and again before the stop
