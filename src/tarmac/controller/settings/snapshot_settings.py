"""The settings about snapshots and checkouts."""

from __future__ import annotations

from tarmac.controller.settings.setting import Setting
from tarmac.shared.units import DAY_S

SNAPSHOT_SETTINGS = (
    Setting(
        name="snapshot",
        group="snapshots",
        kind="flag",
        default=False,
        meaning="jobs run the code as it was when they were submitted; --no-snapshot turns it off for a job",
    ),
    Setting(
        name="snapshot_limit",
        group="snapshots",
        kind="size",
        default=1024**3,
        meaning="a snapshot with more than this is refused",
    ),
    Setting(
        name="snapshot_keep_s",
        group="snapshots",
        kind="seconds",
        default=30.0 * DAY_S,
        meaning="a snapshot is removed when all its jobs ended this long ago",
    ),
    Setting(
        name="snapshot_keep_size",
        group="snapshots",
        kind="size",
        default=20 * 1024**3,
        meaning="if snapshots take more than this, the oldest that no job needs are removed; 0: no limit",
    ),
    Setting(
        name="checkout_keep_s",
        group="snapshots",
        kind="seconds",
        default=7.0 * DAY_S,
        meaning="the unchanged files of a checkout are removed this long after its job ended",
    ),
)
