"""The notice to all users: show, replace and clear it."""

from __future__ import annotations

from tarmac.api.deps import Context
from tarmac.api.schemas.notice import NoticeAnswer, NoticeRequest
from tarmac.api.views.notice import notice_view
from tarmac.controller.engine.decision import Decision
from tarmac.controller.notice import SETTING, AdminNotice, stored_text
from tarmac.controller.publisher import QueueChanged
from tarmac.refusal import invalid


async def show_notice(context: Context) -> NoticeAnswer:
    """Show the notice of the admins to all users."""
    return NoticeAnswer(notice=notice_view(context.controller))


async def put_notice(context: Context, body: NoticeRequest) -> NoticeAnswer:
    """Show a notice to all users, above `ls` and `gpus`. It replaces the last one."""
    if not body.text.strip():
        raise invalid("notice.empty")
    return await _changed(
        context, AdminNotice(text=body.text.strip(), by=context.caller.name, at=context.controller.now())
    )


async def clear_notice(context: Context) -> NoticeAnswer:
    """Clear the notice."""
    return await _changed(context, None)


async def _changed(context: Context, notice: AdminNotice | None) -> NoticeAnswer:
    controller = context.controller
    await context.carry_out(
        lambda _: Decision(
            answer=None, settings={SETTING: stored_text(notice)}, install=lambda: controller.notices.put(notice)
        )
    )
    controller.publisher.publish([QueueChanged()])
    return NoticeAnswer(notice=notice_view(controller))
