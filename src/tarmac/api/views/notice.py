"""The notice of the admins, as people and programs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.notice import NoticeView
from tarmac.api.wording.times import iso

if TYPE_CHECKING:
    from tarmac.controller.controller import Controller


def notice_view(controller: Controller) -> NoticeView | None:
    shown = controller.notices.notice
    return None if shown is None else NoticeView(text=shown.text, by=shown.by, at=str(iso(shown.at)))
