"""通知：内容，以及为什么被拒绝或没有发出。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_INSTALL = "运行 `pip install 'tarmac-gpu[notify]'`，然后 `tarmac stop`；或去掉 --notify"
_EXAMPLE = '[notify.targets] mail = "mailtos://USER:PASSWORD@smtp.example.org?to=ann@example.org"'

MESSAGES: dict[str, Message] = {
    # 提交时
    "notify.not_installed": Message("通知需要 apprise，而它没有安装", _INSTALL),
    "notify.none_configured": Message(
        "{target} 不是通知目标；配置文件中没有通知目标",
        "请在配置文件中添加一个：" + _EXAMPLE + "；见 docs/notifications.md",
    ),
    "notify.unknown": Message("{target} 不是通知目标", "请使用 {known:or}，或把它加入配置文件的 [notify.targets]"),
    "notify.misspelled": Message("{target} 不是通知目标", "是否想用 {near}？"),
    "notify.url": Message(
        "--notify 需要目标的名称，而不是可能含有机密的 URL", "请在配置文件的 [notify.targets] 中为该 URL 取一个名称"
    ),
    "notify.no_mail": Message("无法向 {address} 发送邮件：配置文件中没有名为 mail 的目标", "请添加一个：" + _EXAMPLE),
    "notify.unknown_event": Message("{event:quoted} 不是任务的事件", "请使用 {known:or}"),
    "notify.on_without_target": Message("--on 需要通知目标，而该任务没有", "请加上 --notify TARGET"),
    # 配置文件
    "config.notify_not_a_table": Message("{path}：notify 不是表", "请写成 [notify.targets]，下面每行如 mail = URL"),
    "config.notify_users": Message(
        "{path}：notify.users 不是用户的表", "请写成 [notify.users.ann.targets]，下面每行如 mail = URL"
    ),
    "config.notify_proxy": Message("{path}：notify.proxy 不是 URL", '请写成 proxy = "http://proxy.example.org:3128"'),
    "config.notify_key": Message(
        "{path}：[{table}] 中有未知的键 {key}",
        "{near:around 是否想用 |？}{near:only None=请使用 targets、default、on、queue 或 queue_on}",
    ),
    "config.notify_targets": Message(
        "{path}：{table}.targets 不是表", "请写成 [{table}.targets]，下面每行如 mail = URL"
    ),
    "config.notify_name": Message(
        "{path}：[{table}.targets] 中的 {name:quoted} 不能作为目标的名称",
        "最多 64 个字符：a 到 z 的字母、数字、点、连字符和下划线；`none` 已被占用",
    ),
    "config.notify_url": Message(
        "{path}：[{table}.targets] 中的 {name} 不是 URL", "请写成 " + _EXAMPLE + "；见 docs/notifications.md"
    ),
    "config.notify_words": Message(
        "{path}：[{table}] 中的 {key} 不是单词列表", '请写成 {key} = ["mail", "slack"] 或 {key} = "mail,slack"'
    ),
    "config.notify_no_target": Message(
        "{path}：[{table}] 中的 {key} 引用了 {target:quoted}，它不是通知目标", "请把它加入 [{table}.targets]"
    ),
    "config.notify_event": Message("{path}：[{table}] 中的 {key}：{event:quoted} 不是事件", "请使用 {known:or}"),
    # 为什么没有发出
    "send.failed": Message("消息没有发出{text:prefixed ：}"),
    "send.timeout": Message("服务器在 {text} 秒内没有响应"),
    "send.bad_url": Message("apprise 不接受该目标的 URL{text:prefixed ：}"),
    "send.not_installed": Message("apprise 没有安装；请运行 `pip install 'tarmac-gpu[notify]'`"),
    "send.no_target": Message("配置文件中没有这个目标"),
    "send.broken": Message("发送进程意外结束{text:prefixed ：}"),
    "send.unreadable": Message("该版本的 Tarmac 无法描述这个事件：{text}"),
    # 事件
    "event.job": Message("任务 {job}{index:prefixed ，序号 }{name:parenthesized}"),
    "event.start": Message("{job} 已启动"),
    "event.succeeded": Message("{job} 成功"),
    "event.failed": Message("{job} 失败：{reason}"),
    "event.cancelled": Message("{job} 已取消"),
    "event.unknown": Message("{job} 已结束，但结果未知{reason:prefixed ：}"),
    "event.retry": Message("{job} 失败，将会重试：{reason}"),
    "event.idle": Message("{job} 空闲：{warning}"),
    "event.queue_empty": Message("队列已空：没有排队或运行的任务"),
    "event.gpu_idle": Message("GPU {gpus} 已空闲 {idle_s:in_words}，而有 {waiting} 个任务在排队"),
    "event.reason": Message(
        "{reason:select exit=退出码|signal=被信号终止：|killed=被外部终止：|oom-gpu=显存不足|oom-host=内存不足|"
        "timeout=达到时间限制|launch=无法启动|dependency=所依赖的任务没有按要求结束|disk-full=磁盘已满|"
        "no-cwd=工作目录不存在|no-interpreter=找不到解释器|suspend=机器休眠|reboot=机器重启}{code:prefixed  }"
    ),
    # 消息的各行
    "line.ran": Message("运行时间：{run_s:in_words}"),
    "line.gpus": Message("GPU：{node} 上的 {gpus}"),
    "line.node": Message("主机：{node}"),
    "line.attempt": Message("运行次数：第 {attempt} 次"),
    "line.next": Message("接下来：第 {attempt} 次运行{wait_s}"),
    "line.next_wait": Message("，{wait_s:in_words}后"),
    "line.owner": Message("用户：{owner}"),
    "line.message": Message("说明：{message}"),
    "line.error": Message("错误：{line}"),
    "line.last": Message("最后一行：{line}"),
    "line.at": Message("时间：{at}"),
    "line.brief": Message("{event}{run_s}{error:prefixed ：}"),
    "line.brief_ran": Message("，运行 {run_s:in_words}"),
    "line.more": Message("……另有 {more} 个"),
    "digest.ends": Message("{count} 个任务已结束：{parts:join ，}"),
    "digest.part": Message("{count} 个{state:select unknown=结果未知|failed=失败|succeeded=成功|cancelled=已取消}"),
    "digest.events": Message("{count} 个事件"),
    "notify.on_host": Message("{title} [{host}]"),
    "notify.test_title": Message("测试消息"),
    "notify.test_body": Message("{by} 用 `tarmac notify test {target}` 发送了这条消息；发往该目标的通知工作正常"),
}
