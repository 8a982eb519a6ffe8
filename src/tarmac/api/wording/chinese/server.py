"""运行机制：代理、磁盘，以及只有 Tarmac 自身出错时才会出现的消息。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "agent.unreachable": Message("无法连接{node:around 节点 | 的}代理", "请稍后重试；运行 `tarmac log agent` 查看原因"),
    "server.cannot_write": Message("目前不能接受请求：{problem}", "{problem:hint}"),
    "server.degraded": Message("{problem}（{since} 起）"),
    "job.stale_unwritten": Message("该状态可能已过期：{problem}"),
    "job.stale_away": Message("{away}；显示的是当时的状态，任务可能仍在运行，其 GPU 仍被占用"),
    "nodes.away_with_jobs": Message("{away}；显示的是当时的状态：{jobs:jobs}"),
    "wait.unwritten": Message("等待中：{problem}；恢复写入后才能知道任务是否结束"),
    "wait.paused": Message(
        "等待中：{by} {since:around 于 | }暂停了队列{reason:prefixed ：}；运行 `tarmac queue resume` 之前不会启动任务"
    ),
    "wait.held": Message("等待中：{jobs:jobs} 已挂起；运行 `tarmac release {first}` 放行{jobs:plural |第一个}"),
    "wait.node_away": Message("等待中：节点 {node} 的代理没有连接；运行 `tarmac doctor` 查看原因"),
    "agent.silent": Message(
        "{node:around 节点 | 的}代理没有响应",
        "请确认它没有停止，磁盘也没有卡住；运行 `tarmac log agent` 了解详情",
    ),
    "agent.silent_for": Message(
        "{node:around 节点 | 的}代理已有 {seconds:in_words}没有响应；状态和读数都是那时的",
        "运行 `tarmac doctor` 查看如何处理",
    ),
    "agent.none_connected": Message("没有可连接的机器：代理没有连接", "运行 `tarmac log agent` 查看原因"),
    "node.not_configured": Message("节点 {node} 没有配置", "请把它重新加入配置文件"),
    "store.removed": Message(
        "{path} 已被删除，无法恢复：{error}",
        "不要停止 Tarmac：控制器仍保有全部数据。请清理磁盘空间，或恢复它的目录",
    ),
    "store.replaced": Message(
        "{path} 在使用期间被另一个文件替换；到目前为止的全部数据在 {saved} 中",
        "运行 `tarmac stop` 之后，把两者之一移到 {path}；运行中的任务不受影响",
    ),
    "store.damaged": Message(
        "tarmac.db 在使用期间被覆盖或损坏：{error}",
        "运行 `tarmac stop`，然后从备份恢复，或把它和日志一起移走；运行中的任务不受影响",
    ),
    "store.cannot_write": Message(
        "状态无法写入：{error}", "没有接受任何请求，运行中的任务不受影响；请清理磁盘空间后重试"
    ),
    "server.too_many_connections": Message("打开的连接过多", "请结束一些等待任务的命令，然后重试"),
    "server.crowded": Message(
        "等待中的命令过多",
        "请结束其中一些，然后重试；`tarmac status`、`tarmac ls` 和 `tarmac kill` 仍可使用",
    ),
    "server.too_many_bodies": Message("正在处理的大请求过多", "请稍后重试"),
    "server.no_log": Message("控制器没有日志文件", "它在终端中运行（`tarmac serve`），日志输出到终端"),
    "server.failed": Message("控制器出错：{error}", "运行 `tarmac log controller` 查看出错位置"),
}
