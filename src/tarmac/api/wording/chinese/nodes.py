"""节点：指的是哪一个，以及配置文件如何列出它们。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_ENTRY = '请写成 [[nodes]]，包含 name = "…"、kind = "local" 和 state = "/…"'

MESSAGES: dict[str, Message] = {
    "node.unreachable": Message("{error}"),
    "node.lost": Message("与它的代理断开了连接"),
    "node.joining": Message("它的代理正在启动"),
    "node.unknown": Message("没有节点 {node}", "可选的节点：{known:list 无}"),
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
    "config.node_state_relative": Message("{path}：节点 {node} 的 state {state} 不是绝对路径", "请给出绝对路径"),
    "config.nodes_repeated": Message(
        "{path}：两个节点的{what:select name=名称|state=状态目录}相同：{value}", "请让每个节点各不相同"
    ),
    "config.node_is_home": Message("配置文件中的节点 {node} 与本机同名", "请换一个名称"),
    "config.node_state_is_home": Message("节点 {node} 的状态目录 {state} 就是本控制器的状态目录", "请换一个目录"),
}
