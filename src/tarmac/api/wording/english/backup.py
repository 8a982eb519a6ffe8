"""Backups, and their restoration."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "backup.no_database": Message(
        "{state} has no database to back up", "run `tarmac status` to see where the state is"
    ),
    "backup.not_ours": Message("{path} is not a backup of Tarmac", "give a file that `tarmac backup` wrote"),
    "backup.newer": Message(
        "{path} was written by a newer Tarmac{version:prefixed  }", "upgrade Tarmac, then restore it"
    ),
    "backup.damaged": Message("{path} is damaged: {why}", "use another backup; nothing was changed"),
    "backup.controller_runs": Message("the controller of {state} is running", "run `tarmac stop`, then try again"),
}
