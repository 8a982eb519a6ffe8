"""The settings of the queue: whose turn it is, who may have how much, and when it keeps or stops itself."""

from __future__ import annotations

from tarmac.controller.settings.per_user import MOST
from tarmac.controller.settings.setting import Setting
from tarmac.core.model.rules import Rules
from tarmac.shared.names import POLICIES
from tarmac.shared.units import MINUTE_S

_RULES = Rules()

QUEUE_SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="policy",
        kind="choice",
        default=_RULES.policy,
        choices=POLICIES,
        meaning="whose turn it is: fifo by priority and place; balance by running GPUs; fairshare by past GPU-hours",
    ),
    Setting(
        name="shares",
        kind="per name",
        default=_RULES.shares,
        least=-MOST,
        meaning="how much of the GPUs each user is due, for balance and fairshare; 0 goes before all, below 0 before 0",
    ),
    Setting(
        name="half_life_s",
        kind="seconds",
        least=MINUTE_S,
        default=_RULES.half_life_s,
        meaning="after this long GPU-hours count half, for fairshare",
    ),
    Setting(
        name="backfill",
        kind="flag",
        default=_RULES.is_backfilling,
        meaning="let later jobs start where they do not delay the first that waits",
    ),
    Setting(
        name="starvation_s",
        kind="seconds",
        default=_RULES.starvation_s,
        meaning="GPUs are kept back for a wide job that waits longer, where nobody knows when running jobs end",
    ),
    Setting(
        name="max_gpus_per_user",
        kind="per name",
        default=_RULES.max_gpus_per_user,
        meaning="GPUs that the jobs of a user have at once; 0: no limit",
    ),
    Setting(
        name="max_gpus_per_project",
        kind="per name",
        default=_RULES.max_gpus_per_project,
        meaning="GPUs that the jobs of a project have at once; 0: no limit",
    ),
    Setting(
        name="max_queued_per_user",
        kind="per name",
        default=_RULES.max_queued_per_user,
        meaning="jobs of a user that wait; 0: no limit",
    ),
    Setting(
        name="max_queued_per_project",
        kind="per name",
        default=_RULES.max_queued_per_project,
        meaning="jobs of a project that wait; 0: no limit",
    ),
    Setting(
        name="gpu_hours_per_user",
        kind="per name",
        default=_RULES.gpu_hours_per_user,
        meaning="GPU-hours of a user within seven days; 0: no limit",
    ),
    Setting(
        name="gpu_hours_per_project",
        kind="per name",
        default=_RULES.gpu_hours_per_project,
        meaning="GPU-hours of a project within seven days; 0: no limit",
    ),
    Setting(
        name="max_gpus_per_job",
        kind="count",
        default=_RULES.max_gpus_per_job,
        meaning="GPUs that one job may ask for; 0: no limit",
    ),
    Setting(
        name="max_queued",
        kind="count",
        default=_RULES.max_queued,
        meaning="jobs that wait, of everybody; 0: no limit",
    ),
    Setting(
        name="no_show_s",
        kind="seconds",
        default=_RULES.no_show_s,
        meaning="a reservation for which nobody came within this long is released",
    ),
    Setting(
        name="reserve_ahead_s",
        kind="seconds",
        default=_RULES.reserve_ahead_s,
        meaning="this long before a reservation begins, jobs without a known end keep off its GPUs",
    ),
    Setting(
        name="pause_after_failures",
        kind="count",
        default=_RULES.pause_after_failures,
        meaning="the queue pauses when so many jobs in a row fail within fail_fast_s; 0: never",
    ),
    Setting(
        name="fail_fast_s",
        kind="seconds",
        default=_RULES.fail_fast_s,
        meaning="a job that fails within this long failed at once, for pause_after_failures",
    ),
    Setting(
        name="admins",
        kind="words",
        default=(),
        meaning="who may act on everybody's jobs and grant urgent ones, besides root and whoever runs Tarmac",
    ),
)
