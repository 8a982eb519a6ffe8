"""The notice that admins show to all users, above `ls` and `gpus`. It stays until it is cleared."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from tarmac.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

SETTING = "notice"  # stored with the settings, but not set by `tarmac set`


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminNotice:
    text: str
    by: str
    at: float


class NoticeBoard:
    def __init__(self, stored: str | None) -> None:
        self.notice = None if stored is None else AdminNotice(**json.loads(stored))

    def put(self, notice: AdminNotice | None) -> Callable[[], None]:
        """Show it from now on, as a part of a decision. Returns what takes that back."""
        before, self.notice = self.notice, notice

        def undo() -> None:
            self.notice = before

        return undo


def stored_text(notice: AdminNotice | None) -> str | None:
    return None if notice is None else json.dumps(asdict(notice))
