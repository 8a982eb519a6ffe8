"""队列整体，以及它的限额和预留。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "notice.empty": Message("公告内容为空", "请给出内容，或用 `tarmac notice --clear` 删除公告"),
    "queue.draining": Message(
        "队列不接受新任务：已被 {by} {is_paused:select True=暂停并排空|False=排空}{reason:prefixed ：}",
        "运行 `tarmac queue resume` 恢复",
    ),
    "queue.not_suspended": Message("{owner} 的任务没有被停止调度", "运行 `tarmac status` 查看被停止调度的用户"),
    "queue.stop_needs_requeue": Message(
        "停止队列时，运行中的任务必须重新排队或终止",
        '设置 "requeue": true 让它们重新排队，或用 POST /jobs/kill 终止',
    ),
    # 限额
    "limit.at_submit": Message("{reached}；没有任务进入队列", "等一些任务启动后再试；运行 `tarmac set` 查看限额"),
    "limit.too_wide_at_submit": Message(
        "{reached}；没有任务进入队列", "用 -g 减少申请的 GPU；运行 `tarmac set` 查看限额"
    ),
    "limit.at_edit": Message("{reached}", "等一些任务启动后再试，或换一个项目"),
    "limit.gpus_per_job": Message("申请了 {asked} 张 GPU；{limit} 为 {most}，超出 {over} 张"),
    "limit.gpu_hours": Message(
        "{who} 最近七天使用了 {used:rounded} GPU 小时；{who} 的 {limit} 为 {most}，超出 {over:rounded}"
    ),
    "limit.gpu_hours_used_up": Message(
        "{who} 最近七天使用了 {used:rounded} GPU 小时；{who} 的 {limit} 为 {most}，已经用完"
    ),
    "limit.gpus_running": Message(
        "{who} 正在使用 {used} 张 GPU，又申请了 {asked} 张；{who} 的 {limit} 为 {most}，超出 {over} 张"
    ),
    "limit.jobs_waiting": Message(
        "{who:around | }已有 {used} 个任务排队，又提交了 {asked} 个；{who:around | 的 }{limit} 为 {most}，"
        "超出 {over} 个"
    ),
    # 预留
    "reservation.unknown": Message("预留 {reservation} 不存在", "运行 `tarmac reserve` 查看所有预留"),
    "reservation.not_owner": Message("预留 {reservation} 属于 {owner}", "请 {owner} 或管理员结束它"),
    "reservation.in_the_past": Message("预留的开始时间已经过去", "用 `from` 指定一个将来的时间"),
    "reservation.too_late": Message("预留的结束时间在 9999 年之后", "用 `from` 指定一个更早的时间"),
    "reservation.too_many": Message("已经有 {most} 个预留", "请先结束其中一些"),
    "reservation.too_wide": Message("申请预留 {gpus} 张 GPU，而单台机器最多只有 {most} 张", "一次最多预留 {most} 张"),
    "reservation.no_gpus": Message(
        "该时段无法预留 {gpus} 张 GPU：其余 GPU 已被预留或停用",
        "换一个时段或减少 GPU；运行 `tarmac reserve` 查看所有预留",
    ),
    "reservation.unknown_user": Message("本机没有用户 {owner}，{owner} 也没有任务"),
    "reservation.may_be_held": Message(
        "GPU {gpus:spans}：被 {owner} 的任务 {job} 占用，可能持续到预留开始之后"
        "（{end:select unknown=结束时间未知|limit=它的时间限制在预留开始之后|history=以往的运行时间更长|"
        "stop=正在停止，可能需要更长时间}）"
    ),
}
