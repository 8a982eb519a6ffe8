"""任务为什么在排队：原因、每张 GPU 的情况、队列位置和预计启动时间。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "waiting.unwritten": Message("目前无法写入，恢复之前不会启动任何任务：{problem}"),
    "waiting.about_to_start": Message("没有阻碍，即将启动"),
    "waiting.held": Message("{since} 起被 {by} 挂起；运行 `tarmac release` 放行"),
    "waiting.draft": Message("这是草稿；运行 `tarmac release` 让它进入队列"),
    "waiting.after": Message("等待任务 {jobs:spans} {on:select ok=成功|fail=失败|any=结束}"),
    "waiting.not_before": Message("{at} 之前不会启动"),
    "waiting.retry": Message(
        "上次运行{reason}；第 {attempt} 次运行将在 {seconds:in_words}后（{at}）启动；运行 `tarmac retry {job}` 立即启动"
    ),
    "waiting.suspended": Message(
        "{reason}；排除原因后，{owner} 或管理员可以运行 `tarmac queue resume --owner {owner}`，让排队的任务启动"
    ),
    "waiting.paused": Message("{by} {since:around 于 | }暂停了队列{reason:prefixed ：}"),
    "waiting.array_full": Message("任务组 {group} 已有 {most} 个任务在运行，达到同时运行的上限（max_running）"),
    "waiting.held_back": Message("{gpus} 张 GPU 为任务 {job} 保留，它预计 ~{at} 启动"),
    "waiting.held_back_undated": Message("{gpus} 张 GPU 为任务 {job} 保留；本任务可能推迟它的启动"),
    "waiting.held_back_overdue": Message("{gpus} 张 GPU 为任务 {job} 保留，它长期被其他任务超过"),
    "waiting.reservation": Message("任务会与 {owner} 的预留 {reservation}（{begin} 至 {end}）冲突"),
    "waiting.behind": Message("任务 {job} 优先"),
    "waiting.on_node": Message("{node}：{text}"),
    "waiting.no_node": Message("没有可连接的机器：代理没有连接"),
    "waiting.node_unreachable": Message("无法连接 {node}"),
    "waiting.node_drained": Message("节点 {node} 已被 {by} 停用{reason:prefixed ：}"),
    "waiting.path_missing": Message("那里没有 {path}"),
    "waiting.too_few_gpus": Message("申请了 {asked} 张 GPU；共 {total} 张，{free} 张空闲"),
    "waiting.too_few_gpus_held": Message("申请了 {asked} 张 GPU；共 {total} 张，{free} 张空闲（被{jobs:jobs} 占用）"),
    "waiting.too_few_nodes": Message(
        "需要同时使用 {asked} 个节点，每个节点上有 {gpus} 张空闲 GPU；目前有 {free} 个节点满足"
    ),
    "waiting.paused_jobs": Message("任务 {jobs:spans} 已暂停，仍占用其资源"),
    "waiting.cpu_slots": Message("不用 GPU 的任务共 {slots} 个名额，已经用完（max_cpu_jobs）"),
    "waiting.host_short": Message("可用内存为 {available:size}；必须保留 {least:size}（keep_host_memory）"),
    "waiting.host_memory": Message("申请了 {asked:size} 内存；共 {total:size}，还可申请 {free:size}"),
    "waiting.cpus": Message("申请了 {asked} 个 CPU 核；共 {total} 个，还可申请 {free} 个"),
    # 单张 GPU
    "gpu.node_not_allowed": Message("任务不能在此节点上运行"),
    "gpu.node_watch_only": Message("此节点只被监视，不启动任务"),
    "gpu.node_drained": Message("节点已停用"),
    "gpu.drained": Message("已停用：{reason}"),
    "gpu.drained_by": Message("已被 {by} 停用"),
    "gpu.held_by_jobs": Message("被{jobs:jobs} 占用"),
    "gpu.too_little_memory": Message("共 {total:size}，空闲 {free:size}；申请了 {asked:size}"),
    "gpu.too_little_memory_foreign": Message(
        "共 {total:size}，空闲 {free:size}；申请了 {asked:size}；{foreign:size} 被 {processes} 占用"
    ),
    "gpu.reserved": Message("{begin} 至 {end} 预留给 {owner}"),
    "gpu.held_back": Message("为任务 {job} 保留"),
    "gpu.free_but": Message("空闲，但{kept}"),
    "gpu.available": Message("可用"),
    "gpu.available_shared": Message("可用，与{jobs:jobs} 共享"),
    "gpu.list": Message("GPU {indices:spans}"),
    "gpu.names": Message("{names}"),
    "gpu.line": Message("{gpus}：{text}"),
    "clauses.several": Message("{clauses:join ；}"),
    # 运行中的任务
    "run.holder": Message("{since:around | 起}被 {owner} 的任务 {job} 占用，{until}"),
    "run.place": Message("{since:around | 起}在 {node}{gpus:prefixed  }上运行，{until}"),
    "run.until_limit": Message("最迟到 {at}（时间限制）"),
    "run.until_history": Message("预计到 ~{at}（根据以往的运行）"),
    "run.until_progress": Message("预计到 ~{at}（根据进度）"),
    "run.until_stopped": Message("最迟到 {at}（正在停止）"),
    "run.paused": Message("{since} 起被 {by} 暂停，结束时间未知"),
    "run.until_unknown": Message("结束时间未知"),
    # 对 why 的回答
    "wait.fetch": Message("任务 {job} 已结束；正在从 {node} 复制它的文件"),
    "waiting.code": Message("正在把它的代码复制到 {node}：已复制 {sent:size}，共 {total:size}"),
    "waiting.code_compared": Message("正在比较它的代码与 {node} 上已有的内容"),
    "waiting.silent_path": Message("它的启动在等待 {path}：该文件系统没有响应"),
    "why.title": Message(
        "{owner} 的任务 {job}{name:parenthesized}："
        "{state:select draft=草稿|held=已挂起|queued=排队中|starting=启动中|running=运行中|paused=已暂停|"
        "stopping=停止中|unknown=未知|succeeded=成功|failed=失败|cancelled=已取消}{place:prefixed ，}"
    ),
    "why.next": Message("排在队列第一位"),
    "why.ahead": Message("前面有 {ahead} 个任务"),
    "why.requested": Message("申请：{request:join ，}"),
    "why.available": Message("目前可用：{free} / {total} 张 GPU"),
    "why.held_back": Message(
        "{node} 的 {gpus} 张 GPU 为本任务保留，预计 ~{at} 启动；可能推迟它的任务不会在这些 GPU 上启动"
    ),
    "why.held_back_undated": Message("{node} 的 {gpus} 张 GPU 为本任务保留；可能推迟它的任务不会在这些 GPU 上启动"),
    "why.held_back_overdue": Message(
        "{node} 的 {gpus} 张 GPU 为长期被其他任务超过的本任务保留；可能推迟它的任务不会在这些 GPU 上启动"
    ),
    "why.other_owners": Message(
        "{owners} 的任务也在排队；按份额折算，"
        "{policy:select balance=正在使用的 GPU |fairshare=近期 GPU 小时}最少的用户优先（policy 为 {policy}）"
    ),
    "why.estimate": Message("预计启动：~{at}，依据是{basis}"),
    "why.no_estimate": Message("预计启动：未知"),
    "clock.weekdays": Message("周一 周二 周三 周四 周五 周六 周日"),
    # 任务申请了什么
    "requested.no_gpu": Message("不用 GPU"),
    "requested.gpus": Message("{gpus} 张 GPU"),
    "requested.gpu_memory": Message("每张 {size:size}"),
    "requested.gpu_share": Message("每张的 {share:percent}"),
    "requested.models": Message("型号 {models:or}"),
    "requested.min_gpu_memory": Message("显存至少 {size:size} 的 GPU"),
    "requested.pinned": Message("只用 GPU {gpus}"),
    "requested.excluded": Message("不用 GPU {gpus}"),
    "requested.idle_below": Message("利用率低于 {percent}% 的 GPU"),
    "requested.only_nodes": Message("只在 {nodes:or} 上"),
    "requested.exclude_nodes": Message("不在 {nodes} 上"),
    "requested.prefer_nodes": Message("优先在 {nodes} 上"),
    "requested.host_memory": Message("{size:size} 内存"),
    "requested.nodes": Message("同时在 {nodes} 个节点上"),
    "requested.cpus": Message("{cpus} 个 CPU 核"),
    "requested.no_time_limit": Message("没有时间限制"),
    "requested.time_limit": Message("最多运行 {seconds:in_words}"),
    "requested.not_before": Message("{at} 之后启动"),
    "requested.priority": Message("优先级 {priority}"),
    "requested.tier": Message("{tier:select urgent=紧急|normal=普通|preemptible=可抢占}"),
    "requested.nice": Message("nice 值 {nice}"),
}
