"""The settings of the queue: the order of jobs, the limits, reservations and the pause after failures."""

from __future__ import annotations

from tarmac.controller.settings.per_user import MOST
from tarmac.controller.settings.setting import Setting
from tarmac.core.model.rules import Rules
from tarmac.shared.names import ORDERS, PLACEMENTS, POLICIES
from tarmac.shared.units import DAY_S, MINUTE_S

_RULES = Rules()
WEEK_S = 7 * DAY_S

QUEUE_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="policy",
        group="scheduling",
        kind="choice",
        default=_RULES.policy,
        choices=POLICIES,
        meaning="who goes first: fifo by priority and place; balance (recommended) by running GPUs; "
        "fairshare by past GPU-hours: heavy users may wait without bound",
    ),
    Setting(
        name="order",
        group="scheduling",
        kind="choice",
        default=_RULES.order,
        choices=ORDERS,
        meaning="which of a user's jobs goes first: submitted by place; expected by wait relative to expected length",
    ),
    Setting(
        name="placement",
        group="scheduling",
        kind="choice",
        default=_RULES.placement,
        choices=PLACEMENTS,
        meaning="the node that is tried first: pack the fullest, so that whole nodes stay free; spread the emptiest",
    ),
    Setting(
        name="shares",
        group="scheduling",
        kind="per name",
        default=_RULES.shares,
        least=-MOST,
        meaning="each user's share of the GPUs, for balance and fairshare; 0 goes before all others, negative before 0",
    ),
    Setting(
        name="half_life_s",
        group="scheduling",
        kind="seconds",
        least=MINUTE_S,
        default=_RULES.half_life_s,
        meaning="GPU-hours count half after this long, for fairshare",
    ),
    Setting(
        name="backfill",
        group="scheduling",
        kind="flag",
        default=_RULES.is_backfilling,
        meaning="let later jobs start if they do not delay planned starts",
    ),
    Setting(
        name="planned_starts",
        group="scheduling",
        kind="count",
        default=_RULES.planned_starts,
        meaning="waiting jobs that GPUs are held back for at once, under fifo at most one; 0: never hold GPUs back",
    ),
    Setting(
        name="starvation_s",
        group="scheduling",
        kind="seconds",
        default=_RULES.starvation_s,
        meaning="a wide job is overdue once others have passed it for this long, or longer where jobs run or wait long",
    ),
    Setting(
        name="max_gpus_per_user",
        group="limits",
        kind="per name",
        default=_RULES.max_gpus_per_user,
        meaning="GPUs that a user's jobs use at once; 0: no limit",
    ),
    Setting(
        name="max_gpus_per_project",
        group="limits",
        kind="per name",
        default=_RULES.max_gpus_per_project,
        meaning="GPUs that a project's jobs use at once; 0: no limit",
    ),
    Setting(
        name="max_queued_per_user",
        group="limits",
        kind="per name",
        default=_RULES.max_queued_per_user,
        meaning="waiting jobs of a user; 0: no limit",
    ),
    Setting(
        name="max_queued_per_project",
        group="limits",
        kind="per name",
        default=_RULES.max_queued_per_project,
        meaning="waiting jobs of a project; 0: no limit",
    ),
    Setting(
        name="gpu_hours_per_user",
        group="limits",
        kind="per name",
        default=_RULES.gpu_hours_per_user,
        meaning="GPU-hours of a user within seven days; 0: no limit",
    ),
    Setting(
        name="gpu_hours_per_project",
        group="limits",
        kind="per name",
        default=_RULES.gpu_hours_per_project,
        meaning="GPU-hours of a project within seven days; 0: no limit",
    ),
    Setting(
        name="max_gpus_per_job",
        group="limits",
        kind="count",
        default=_RULES.max_gpus_per_job,
        meaning="GPUs that one job may request; 0: no limit",
    ),
    Setting(
        name="max_queued",
        group="limits",
        kind="count",
        default=_RULES.max_queued,
        meaning="waiting jobs of all users; 0: no limit",
    ),
    Setting(
        name="no_show_s",
        group="reservations",
        kind="seconds",
        default=_RULES.no_show_s,
        meaning="a reservation is released if no job uses it within this long",
    ),
    Setting(
        name="reserve_ahead_s",
        group="reservations",
        kind="seconds",
        default=_RULES.reserve_ahead_s,
        meaning="jobs without a known end stay off a reserved GPU this long before the reservation begins",
    ),
    Setting(
        name="retries",
        group="jobs",
        kind="count",
        default=0,
        meaning="how often jobs without --retry run again if they fail",
    ),
    Setting(
        name="retry_delay_s",
        group="jobs",
        kind="seconds",
        default=_RULES.retry_delay_s,
        most=WEEK_S,
        meaning="wait before the second retry of a job without --retry-delay; each further wait is twice as long",
    ),
    Setting(
        name="retry_max_delay_s",
        group="jobs",
        kind="seconds",
        default=_RULES.retry_max_delay_s,
        most=WEEK_S,
        meaning="the longest wait before a retry",
    ),
    Setting(
        name="suspend_after_failures",
        group="jobs",
        kind="count",
        default=_RULES.suspend_after_failures,
        meaning="suspend a user after this many jobs in a row fail within fail_fast_s; 0: never",
    ),
    Setting(
        name="fail_fast_s",
        group="jobs",
        kind="seconds",
        default=_RULES.fail_fast_s,
        meaning="a job that fails within this long counts for suspend_after_failures and drain_node_after_failures",
    ),
    Setting(
        name="drain_node_after_failures",
        group="jobs",
        kind="count",
        default=_RULES.drain_node_after_failures,
        meaning="drain a node after this many jobs of several users in a row fail there within fail_fast_s; 0: never",
    ),
    Setting(
        name="admins",
        group="people",
        kind="words",
        default=(),
        meaning="users who may act on all jobs and submit urgent ones, besides root and the user who runs Tarmac",
    ),
)
