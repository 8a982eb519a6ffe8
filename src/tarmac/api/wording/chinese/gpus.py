"""GPU 以及 GPU 上的进程。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "gpu.held": Message("被 {processes} 占用"),
    "gpu.recovering": Message("曾发生故障（{reason}），{seconds:in_words}后恢复使用"),
    "gpu.unreported": Message("代理没有报告这张 GPU"),
    "gpu.warning": Message("任务 {job}：{warning}"),
    "gpu.still_held": Message("GPU {gpu} 被任务 {job} 占用", "等任务结束后再移除这张 GPU"),
    "gpu.present": Message(
        "GPU {gpu} 仍然存在；只有已消失的 GPU 才能移除", "要停用它，请运行 `tarmac gpu drain {gpu}`"
    ),
    "gpu.unhealthy": Message("GPU {gpu} 的故障尚未消除：{health}", "请先排除故障；恢复正常后 Tarmac 会自动重新使用它"),
    "process.none_named": Message("没有指定进程", "请给出它的 PID 或程序名"),
    "process.pid_and_program": Message("同时给出了 PID 和程序名", "只能给出其中一个"),
    "process.unknown": Message("进程 {pid} 不存在", "运行 `tarmac gpus` 查看 GPU 上的进程"),
    "process.pid_not_ignored": Message("PID {pid} 没有被忽略", "已忽略的 PID：{ignored:list 无}"),
    "process.program_not_ignored": Message("{program} 没有被忽略", "已忽略的程序：{ignored:list 无}"),
    "process.ignored_by_default": Message(
        "{program} 默认就被忽略，没有需要撤销的设置",
        "如果要把它计入 GPU 占用，请运行 `tarmac gpu ignore-process --off {program}`",
    ),
    "process.matches_pattern": Message(
        "{program} 匹配 {pattern}，所以被忽略",
        "请运行 `tarmac gpu ignore-process {is_default:select True=--off|False=--forget} '{pattern}'`",
    ),
    "process.off_is_for_programs": Message("`off` 只用于默认被忽略的程序", "要撤销用户添加的条目，请用 `forget`"),
    "process.program_with_comma": Message("{program} 不是程序名：其中有逗号", "一次只给出一个程序"),
    "process.foreign": Message("{user} 的进程 {pid}{job:prefixed ，任务 }{command:parenthesized}{age:prefixed ，}"),
    "process.age": Message("已运行 {seconds:in_words}"),
    "process.unknown_user": Message("未知用户"),
    "process.more_foreign": Message("{processes}；另有 {more} 个"),
}
