"""节点：指的是哪一个，以及配置文件如何列出它们。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_ENTRY = '请写成 [[nodes]]，包含 name = "…"、kind = "local" 和 state = "/…"'

MESSAGES: dict[str, Message] = {
    "node.unreachable": Message("{error}"),
    "node.lost": Message("与它的代理断开了连接"),
    "node.removed": Message("它已不在配置中"),
    "node.away": Message("自 {since} 起无法连接节点 {node}"),
    "node.away_removed": Message("节点 {node} 已不在配置中"),
    "node.joining": Message("它的代理正在启动"),
    "node.unknown": Message("没有节点 {node}", "可选的节点：{known:list 无}"),
    "node.exists": Message("节点 {node} 已存在", "请用 --name 另取名称，或用 `tarmac node edit {node}` 修改它"),
    "node.too_many": Message("已有 {most} 个节点", "请用 `tarmac node rm` 移除一个"),
    "node.of_config": Message("节点 {node} 不是用 `tarmac node add` 添加的", "本机和配置文件中的节点不在这里修改"),
    "node.name_invalid": Message(
        "{name:quoted} 不是有效的节点名称", "最多 64 个字母、数字、点、连字符和下划线，以字母或数字开头"
    ),
    "node.host_invalid": Message("{host:quoted} 不是主机", "请像 `ssh` 那样填写主机名、地址或别名，不带选项"),
    "node.user_invalid": Message("{user:quoted} 不是用户名", "请填写那台机器上的账户"),
    "node.has_jobs": Message(
        "{jobs:jobs} 正在 {node} 上运行",
        "请运行 `tarmac node drain {node}` 并等待它们结束，或终止它们；"
        "如果机器不会再回来，请运行 `tarmac node forget {node} --yes`",
    ),
    "node.has_fetches": Message("正在从 {node} 复制{jobs:jobs} 的文件", "请等到 `tarmac show` 显示文件已复制"),
    "node.another_machine": Message(
        "{host} 与正在运行任务的 {node} 不是同一台机器，或者它重启过", "请把它添加为另一个节点，或等任务结束"
    ),
    "node.is_connected": Message("{node} 可以连接，并未消失", "等任务结束后，用 `tarmac node rm {node}` 移除它"),
    "node.address_invalid": Message("{address:quoted} 不是地址", "请填写主机名或 IP 地址"),
    "node.variable_invalid": Message("无法传递变量 {name:quoted}", "请使用字母、数字和下划线，不含空字节"),
    "node.same_machine": Message("{node} 与节点 {other} 是同一台机器", "它的 GPU 会被分配两次，因此没有添加"),
    "node.failed.login": Message(
        "{host} 拒绝登录：{said}",
        "请确认 `ssh {host}` 无需密码即可登录；需要密码或二次验证时，请运行 `tarmac node login`",
    ),
    "node.failed.host_key_unknown": Message(
        "{host} 的主机密钥未知：{said}", "请在终端中运行该命令，由 ssh 询问；或加上 --accept-new"
    ),
    "node.failed.host_key_changed": Message(
        "{host} 的主机密钥已改变：{said}", "连接可能被截获；如果机器重装过，请用 `ssh-keygen -R {host}` 删除旧密钥"
    ),
    "node.failed.unreachable": Message("无法连接 {host}：{said}", "请用 `ssh {host}` 检查名称和网络"),
    "node.failed.silent": Message(
        "{host} 接受了连接，但其 shell 在 20 秒内没有应答{said:prefixed ：}",
        "请检查它的登录文件：可能有文件读取输入，或启动了别的程序（如 tmux）",
    ),
    "node.failed.ended": Message(
        "{host} 在代理启动之前断开了连接{said:prefixed ：}",
        "请检查它的登录文件：可能有文件退出，或启动了别的程序（如 tmux）",
    ),
    "node.failed.stuck": Message(
        "{host} 上的代理在 60 秒内没有启动{said:prefixed ：}", "请检查那里主目录所在的磁盘是否有响应"
    ),
    "node.failed.quiet": Message("15 秒内没有收到 {host} 的任何数据，已放弃该连接", "会再次尝试；它的作业继续运行"),
    "node.failed.same_machine": Message(
        "{host} 与节点 {other} 是同一台机器", "请移除其中之一：否则它的 GPU 会被分配两次"
    ),
    "node.failed.no_python": Message(
        "{host} 上没有 Python 3.8 或更新版本{said:prefixed ；那里最新的是 }", "请在那里安装 python3，别的都不需要"
    ),
    "node.failed.node": Message("无法在 {host} 上启动代理：{said}", "请在 {host} 上解决后重试"),
    "node.failed.no_ssh": Message("本机没有 `ssh` 程序", "请安装 OpenSSH 客户端"),
    "node.remove_ipc": Message(
        "{node}：{user} 注销时，systemd 会删除 PyTorch 数据加载器使用的共享内存（RemoveIPC）；"
        "请以 root 身份在那里运行 `loginctl enable-linger {user}`"
    ),
    "node.kills_processes": Message(
        "{node}：{user} 注销时，systemd 会终止 {user} 的所有进程，包括任务（KillUserProcesses）；"
        "请以 root 身份在那里运行 `loginctl enable-linger {user}`"
    ),
    "node.other_controllers": Message("{node} 也被 {others} 使用；它们的任务在这里算作外部进程"),
    "node.not_named": Message("进程 {pid} 可能在多个节点上", "请指明节点：{known}"),
    "gpu.on_several_nodes": Message("多个节点上都有 GPU {word}", "请同时指明节点：{choices}"),
    "gpu.pinned_to_several_nodes": Message(
        "指定的 GPU 分布在多个节点上（{nodes}），而一个任务只能在一个节点上运行", "请只指定同一个节点的 GPU"
    ),
    "gpu.range_reversed": Message("范围 {word} 的终点小于起点", "请把较小的编号写在前面"),
    "config.nodes_not_a_list": Message("{path}：nodes 不是表的列表", _ENTRY),
    "config.node_key_missing": Message("{path}：nodes[{number}] 缺少 {key}", '请加上 {key} = "{example}"'),
    "config.node_key_not_text": Message(
        "{path}：nodes[{number}] 的 {key} 不是字符串", '请加上引号：{key} = "{example}"'
    ),
    "config.node_key_unknown": Message("{path}：nodes[{number}] 中有未知的键 {key}", "可用的键：{known}"),
    "config.node_kind_unknown": Message("{path}：nodes[{number}] 的 kind {kind} 未知", "可选：{known}"),
    "config.node_name_invalid": Message(
        "{path}：nodes[{number}] 的 {name:quoted} 不是有效的名称",
        "最多 64 个字母、数字、点、连字符和下划线，以字母或数字开头",
    ),
    "config.node_environment_invalid": Message(
        "{path}：nodes[{number}] 的 environment 不是由字符串组成的表",
        '请写成 environment = {{ TARMAC_FAKE_GPUS = "2x48G" }}',
    ),
    "config.node_watch_only_invalid": Message(
        "{path}：nodes[{number}] 的 watch_only 既不是 true 也不是 false", "请写成 watch_only = true"
    ),
    "config.node_state_relative": Message("{path}：节点 {node} 的 state {state} 不是绝对路径", "请给出绝对路径"),
    "config.nodes_repeated": Message(
        "{path}：两个节点的{what:select name=名称|state=状态目录}相同：{value}", "请让每个节点各不相同"
    ),
    "config.node_is_home": Message("配置文件中的节点 {node} 与本机同名", "请换一个名称"),
    "config.node_was_added": Message(
        "配置文件中的节点 {node} 已经用 `tarmac node add` 添加", "请在配置文件中换一个名称"
    ),
    "config.node_state_is_home": Message("节点 {node} 的状态目录 {state} 就是本控制器的状态目录", "请换一个目录"),
}
