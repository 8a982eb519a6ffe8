"""任务：指的是哪些，谁可以操作，以及哪些操作与状态不符。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_STATES = (
    "draft=草稿|held=已挂起|queued=排队中|starting=启动中|running=运行中|paused=已暂停|stopping=停止中|"
    "unknown=未知|succeeded=成功|failed=失败|cancelled=已取消"
)

MESSAGES: dict[str, Message] = {
    "job.idle": Message("已空闲 {seconds:in_words}"),
    "job.over_booking": Message("使用的显存超过申请量"),
    "jobs.more_than_one": Message("{word:quoted} 指的不止一个任务", "请给出单个 ID，或 `last`"),
    "jobs.unknown": Message("任务 {jobs} 不存在", "运行 `tarmac ls -a` 查看所有任务"),
    "jobs.no_last": Message("还没有提交过任务，`last` 没有所指", "运行 `tarmac add -- CMD…` 提交一个"),
    "jobs.not_an_id": Message("{word:quoted} 不是任务 ID", "请给出 ID（如 7）、范围（如 3-7）、`last` 或 `all`"),
    "job.not_an_id": Message("{word:quoted} 不是任务 ID", "请给出单个 ID（如 7），或 `last`"),
    "jobs.id_too_large": Message("{word:quoted} 大于任何任务的 ID", "运行 `tarmac ls -a` 查看所有任务"),
    "jobs.not_a_range": Message("{word:quoted} 不是任务 ID 的范围", "请把较小的 ID 写在前面：{stop}-{start}"),
    "jobs.unknown_state": Message("{state:quoted} 不是任务状态", "可选：{known}"),
    "pause.clock_runs_on": Message(
        "它由旧版本的 Tarmac 启动，暂停期间时间限制会继续计时；仍要暂停，请加 --count-paused"
    ),
    # 权限
    "permission.admin_only": Message(
        "只有管理员可以{action:select urgent=提交紧急任务|make_urgent=把任务设为紧急|start=让任务插队启动|"
        "stop=停止队列|queue=暂停、排空或恢复队列|set=修改设置|reserve=预留 GPU|notice=向所有用户发布公告|"
        "clean=删除其他用户的任务|gpus=停用、恢复、移除或共享 GPU|ignore=忽略 GPU 上的进程|log=查看控制器日志|"
        "nodes=添加、修改、排空或移除节点|end=停止 Tarmac}",
        "请联系管理员；运行 `tarmac set admins` 查看管理员名单",
    ),
    "permission.not_owner": Message(
        "任务 {job} 属于 {owner}；没有执行任何操作", "用 `--owner {caller}` 只选择自己的任务"
    ),
    "permission.other_queue": Message("这个队列属于 {owner}", "请使用自己的队列：取消设置 TARMAC_HOME 后重试"),
    "jobs.none_selected": Message("没有选择任务", "请给出 ID、`last`、`all`，或筛选条件，例如 --name"),
    "jobs.no_match": Message("没有符合条件的任务", "运行 `tarmac ls -a` 查看所有任务"),
    "jobs.unknown_field": Message("任务没有字段 {field:quoted}", "可选：{known}"),
    "jobs.still_running": Message("{jobs:jobs} 仍在运行；没有删除任何任务", "先运行 `tarmac kill {first}`，等它结束"),
    "jobs.removed_in_part": Message(
        "{jobs:jobs} 在此期间已经启动；{removed:jobs}（共 {count} 个）已经删除，其余没有删除",
        "运行 `tarmac kill {first}`，等它结束后再次执行该命令",
    ),
    "jobs.maybe_running": Message(
        "{jobs:jobs} 的状态已过期：目前无法写入，不知道是否已经结束；没有删除任何任务",
        "运行 `tarmac show {first}` 了解详情；恢复写入后再试",
    ),
    "job.not_waiting": Message(
        "任务 {job} 不在排队：{state:select ended=已经结束|starting=正在启动|running=正在运行|paused=已经暂停|"
        "stopping=正在停止|unknown=状态未知}",
        "运行 `tarmac show {job}` 了解详情",
    ),
    "job.cannot_move": Message(
        "任务 {job} 的状态是“{state:select " + _STATES + "}”，不能移动", "先运行 `tarmac release {job}`"
    ),
    "move.too_many": Message(
        "有 {jobs} 个任务符合条件，一次最多移动 {most} 个", "可以用 `tarmac edit --priority` 调整它们的顺序"
    ),
    "start.wrong_count": Message("任务 {job} 申请了 {asked} 张 GPU，却指定了 {named} 张", "请指定 {asked} 张 GPU"),
    "start.several_nodes": Message(
        "任务 {job} 同时在多个节点上运行，不能强制启动", "可以把它移到最前面：`tarmac move {job} first`"
    ),
    "start.no_machine": Message("没有可连接的机器拥有任务 {job} 申请的 {asked} 张 GPU", "请稍后重试"),
    "start.node_closed": Message(
        "任务 {job} 可以在 {node} 上启动，但{watch_only:select True=Tarmac 只监视该节点|False=该节点已停用}",
        "如已停用，请运行 `tarmac node resume {node}`，或用 --gpus-on 选择其他节点的 GPU",
    ),
    "start.gpu_held": Message("GPU {gpu} 被{jobs:jobs} 占用"),
    "start.double_booking": Message("{held:join ；}", "加上 --yes 仍可启动该任务；两个任务会同时使用这张 GPU"),
    "retry.failed_and_state": Message("`failed` 和 `state` 都按状态选择任务", "去掉其中一个"),
    "retry.still_waits": Message(
        "任务 {job} 还没有结束，状态是“{state:select " + _STATES + "}”", "运行 `tarmac why {job}` 查看它在等什么"
    ),
    "retry.not_ended": Message(
        "任务 {job} {state:select unknown=状态未知，其进程可能仍在运行|starting=正在启动|running=正在运行|"
        "paused=已经暂停|stopping=正在停止}；只有已结束的任务才能重试",
        "等它结束，或先运行 `tarmac kill {job}`",
    ),
    "retry.failed_again": Message(
        "任务 {job} 再次失败：{reason}；要一起重试这些任务，请运行 `tarmac retry {ids:join  }`"
    ),
    "retry.adopted": Message(
        "任务 {job} 是接管的：它不是由 Tarmac 启动的，无法再次启动", "请用 `tarmac add` 提交它的命令"
    ),
    "retry.no_environment": Message(
        "任务 {job} 是从节点上收回的，其环境变量未知", "请用 `tarmac add` 重新提交它的命令"
    ),
    "groups.no_last": Message("你没有数组、扫参或批量任务", "运行 `tarmac ls --groups` 查看所有任务组"),
    "groups.unknown_id": Message(
        "没有 ID 为 {group} 的任务组{of_job:prefixed ；该任务属于任务组 }", "运行 `tarmac ls --groups` 查看任务组"
    ),
    "groups.unknown_name": Message(
        "没有名为 {group:quoted} 的任务组{meant:prefixed ；最接近的名称是 }",
        "运行 `tarmac ls --groups` 查看任务组",
    ),
    "results.nothing_asked": Message(
        "没有指定指标",
        "请给出匹配日志的模式，例如 --metric 'acc=([0-9.]+)'，或给出文件：--json metrics.json",
    ),
    "results.file_elsewhere": Message("{file:quoted} 不在任务的目录中", "请给出相对于该目录的路径，不能含有 `..`"),
    "results.too_many": Message("选中了 {jobs} 个任务，上限是 {most} 个", "请减少选择"),
    "results.slow_pattern": Message("用这个模式搜索日志耗时过长", "请简化模式：避免嵌套的 `*` 和 `+`"),
    "results.bad_pattern": Message("指标 {pattern:quoted} 不是正则表达式：{trouble}"),
    "results.no_such_group": Message("指标 {pattern:quoted} 中没有分组 {group}"),
    "results.no_value": Message("指标 {pattern:quoted} 没有指明哪一部分是值", "请把值放在括号中：'{name}=([\\d.]+)'"),
    "results.same_name": Message("两个指标都叫 {name:quoted}", "请用分组为它们命名：'(?P<best>…)'"),
    "edit.not_in_a_group": Message("任务 {job} 不属于任何任务组，max_running 不适用", "去掉它"),
    "template.unknown": Message("模板 {name} 不存在", "运行 `tarmac template ls` 查看你的模板"),
    "template.misspelled": Message("模板 {name} 不存在", "是否想用 {near}？"),
    "template.bad_name": Message(
        "模板名称必须是 1 到 {most} 个可打印字符，不含斜杠，也不能是点", "换一个名称，例如 big"
    ),
    "template.job_or_form": Message("模板由一个任务或一个表单保存而来", "`job` 和 `form` 请只给出一个"),
    "template.too_many": Message("你已经有 {most} 个模板", "用 `tarmac template rm` 删除一个"),
    "clone.too_many": Message("选中了 {jobs} 个任务，一次最多复制 {most} 个", "请减少选择"),
    "clone.not_owner": Message("任务 {job} 属于 {owner}，只有 {owner} 可以复制它", "请用 `tarmac add` 提交它的命令"),
    "clone.adopted": Message("任务 {job} 是接管的，Tarmac 无法再次启动它", "请用 `tarmac add` 提交它的命令"),
    "label.too_many_tags": Message("一个任务最多有 {most} 个标签", "请去掉一些"),
    "label.empty_tag": Message("有一个标签为空", "请写一个词，例如 baseline"),
    "label.bad_tag": Message("{tag:quoted} 不能作为标签：其中有逗号或控制字符", "请分别给出每个标签"),
    "edit.of_job": Message("任务 {job}：{problem}", "没有做任何修改"),
    "edit.needs_gpu": Message("{option} 需要 GPU，而该任务没有申请 GPU", "去掉它，或用 -g 申请 GPU"),
    "edit.no_environment": Message("该任务的环境变量未知，无法修改", "去掉 env"),
    # --fetch 没有复制的文件
    "fetch.missing": Message("节点上没有 {path}"),
    "fetch.newer": Message("这里的 {path} 更新，因此没有被替换"),
    "fetch.link": Message("{path} 是指向目录之外的符号链接：{target}"),
    "fetch.special": Message("{path} 不是普通文件"),
    "fetch.in_the_way": Message("{path} 在这里是别的东西，因此没有被替换"),
    "fetch.changing": Message("{path} 在复制时发生了变化"),
    "fetch.too_many": Message("{path} 等路径中的文件超过 {most} 个"),
    "fetch.unreadable": Message("无法在节点上读取 {path}：{trouble}"),
    "fetch.unwritable": Message("无法在这里写入 {path}：{trouble}"),
    "edit.no_secrets": Message("缺少该任务的机密环境变量的值：{names}", "请把它们也重新设置一遍：--env {first}"),
    "edit.runs_as_owner": Message(
        "任务 {job} 属于 {owner}，只有 {owner} 可以修改 {field}", "请 {owner} 来修改，或由其取消该任务"
    ),
    "edit.nothing": Message("没有给出要修改的内容", "请至少给出其中一项：{fields}"),
    "adopt.gpu_held": Message("GPU {index} 被任务 {job} 占用", "用 --gpus 指定其他 GPU，或不指定"),
    "adopt.init": Message("不能接管进程 1：它是 init 进程", "请给出你的进程的 PID"),
    "adopt.not_owner": Message("进程 {pid} 属于其他用户", "请由其所有者接管"),
    "adopt.is_a_job": Message("进程 {pid} 已经属于任务 {job}", "运行 `tarmac show {job}` 查看"),
    "adopt.ended": Message("进程 {pid} 已经结束", "请接管仍在运行的进程"),
    # 输出
    "log.adopted": Message("任务 {job} 是接管的：Tarmac 没有记录它的输出", "请到启动该进程的地方查看"),
    "log.node_removed": Message("任务 {job} 的输出在节点 {node} 上，而该节点已被移除", "请到那台机器上查找"),
    "log.gone": Message(
        "任务 {job} 的输出丢失：{path} 不存在",
        "文件可能已被移动或删除；运行 `tarmac show {job}` 查看该任务的已知信息",
    ),
    "log.no_attempt": Message(
        "任务 {job} 只运行过 {attempts} 次", "去掉 --attempt；运行 `tarmac show {job}` 查看运行记录"
    ),
    "log.one_file": Message("任务 {job} 把每次运行的输出都写到同一个文件：{path}", "去掉 --attempt 可查看全部输出"),
    "log.merged": Message("任务 {job} 把 stdout 和 stderr 写到同一个文件", "去掉 --stderr 可同时查看两者"),
    "log.not_on_node": Message("任务 {job} 不在节点 {node} 上运行", "请选择它的一个节点：{nodes}"),
    "log.not_started": Message("任务 {job} 尚未启动，还没有输出", "运行 `tarmac log -f {job}` 等待输出"),
    "log.error_alone": Message("error 不能与 lines、offset、since_s 或 follow 同时使用", "去掉 error，或去掉其他参数"),
    "log.no_error": Message(
        "任务 {job} 的输出中没有 traceback，也没有错误行", "运行 `tarmac log -n 50 {job}` 查看输出的末尾"
    ),
    "log.silent": Message("无法读取任务 {job} 的输出：{error}", "请检查该文件系统所在的磁盘或服务器；其他命令不受影响"),
    "log.never_ran": Message("任务 {job} 没有运行过，没有输出", "运行 `tarmac show {job}` 查看经过"),
    "log.unreadable": Message("无法读取任务 {job} 的输出：{error}", "运行 `tarmac show {job}` 查看经过"),
    # 事件
    "events.not_an_event": Message("Last-Event-ID {value:quoted} 不是事件编号", "请发送收到的最后一个事件的编号"),
    "events.not_ids": Message("jobs={words} 不是 ID 列表", "请用逗号分隔 ID：jobs=3,4"),
}
