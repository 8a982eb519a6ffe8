"""提交有什么问题：命令、目录、输出、GPU、依赖。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_HAS = "{nodes:plural 本机只有|没有节点能满足，最接近的有}"

MESSAGES: dict[str, Message] = {
    "form.mistake": Message("{problem}", "请改正后重新提交表单"),
    "submit.no_command": Message("任务需要一条命令", "请给出 `command`（单词列表）或 `shell`（字符串）"),
    "submit.command_empty": Message("命令为空", "请写出要运行的程序：tarmac add -- python train.py"),
    "submit.log_and_streams": Message(
        "log 不能与 stdout 或 stderr 同时使用", "合并两个输出流用 log，分开则用 stdout 和 stderr"
    ),
    "submit.cwd_not_absolute": Message("cwd {path} 不是绝对路径", "请给出绝对路径"),
    "submit.cwd_not_a_directory": Message("cwd {path} 不是目录", "请先创建它，或用 --cwd 换一个"),
    "submit.env_malformed": Message("env[{number}] 不是 NAME=VALUE", "请写成 NAME=VALUE"),
    "submit.param_name": Message("{name:quoted} 不能作为参数名", "请使用字母、数字和下划线"),
    "submit.env_bad_name": Message("env[{number}] 没有以变量名开头", "请使用字母、数字和下划线"),
    "submit.environment_bad_name": Message("environment 中有一个变量名为空，或变量名中含有 =", "去掉它"),
    "submit.env_reserved": Message(
        "不能设置 {name}，因为 Tarmac 会为每个任务设置它", "用 --gpus-on 选择 GPU，用 --cwd 选择目录"
    ),
    "submit.venv_and_conda": Message("--venv 和 --conda 不能同时使用", "去掉其中一个"),
    "submit.venv_unknown": Message(
        "{path} 不是虚拟环境", "用 `python3 -m venv {path}` 创建它，或给出另一个虚拟环境的目录"
    ),
    "submit.venv_unknown_near": Message("{path} 不是虚拟环境", "是否想用 --venv {nearest}？"),
    "submit.conda_unknown": Message("没有名为 {name} 的 conda 环境", "请给出环境的目录：--conda /opt/conda/envs/NAME"),
    "submit.conda_unknown_near": Message(
        "没有名为 {name} 的 conda 环境", "是否想用 --conda {nearest}？已知的环境：{known}"
    ),
    "submit.fill_unknown": Message(
        "{text:quoted} 中有未知的占位符 {placeholder}",
        "可替换的有 {{gpus}}、{{gpu_count}}、{{job_id}} 和 {{port}}；要保留花括号，请写两遍：{{{placeholder}}}",
    ),
    "submit.fill_single_brace": Message(
        "{text:quoted} 中有单个花括号，--fill 无法处理", "写两遍可以保留它，或去掉 --fill"
    ),
    "submit.signal_uncatchable": Message("没有进程能捕获信号 {signal}", "用 --grace 0（grace_s: 0）可以立即终止任务"),
    "submit.no_retries": Message("{flag} 需要重试，而该任务没有设置重试", "请指明再运行几次：--retry 3"),
    "submit.requeue_without_limit": Message("--requeue 在达到时间限制时生效，而该任务没有时间限制", "请加上 --time"),
    "submit.oom_contradiction": Message("--on-oom fail 与 --retry-on oom 矛盾", "去掉其中一个，或使用 --on-oom retry"),
    "submit.warn_malformed": Message("signal {text} 不是警告：{trouble}"),
    "submit.warn_without_limit": Message(
        "signal {text} 在达到时间限制之前发出警告，而该任务没有时间限制",
        "请加上 --time；如果要选择停止任务的信号，请去掉 @ 及其后的内容",
    ),
    "submit.warn_too_early": Message(
        "任务的时间限制为 {limit_s:in_words}，signal {text} 会早于任务启动", "晚一些警告，或用 --time 延长限制"
    ),
    "submit.max_running_without_group": Message(
        "max_running 只用于数组、扫参和批量任务", '去掉它，或设置 "group": {{"kind": "array"}}'
    ),
    "submit.path_placeholder": Message(
        "{path}：该任务没有 {placeholder:quoted}", "可以写 {known:or}；要保留其他花括号，请写两遍"
    ),
    "submit.path_single_brace": Message("{path} 中有单个花括号", "要保留它，请写两遍"),
    "submit.ids_moved": Message("检查输出文件期间，任务的 ID 变化过于频繁", "请重试"),
    "group.bad_indices": Message("序号 {text:quoted}：{trouble}"),
    "group.indices_of_other": Message(
        "{kind:select sweep=扫参|batch=批量任务|array=数组}没有序号", '去掉序号，或设置 "kind": "array"'
    ),
    "group.indices_of_many": Message(
        "带序号的数组只接受一个任务，而不是 {jobs} 个", "任务只发送一次；它会为每个序号各排一次队"
    ),
    "submit.same_output": Message("stdout 和 stderr 是同一个文件：{path}", "合并输出请用 --log"),
    "submit.log_not_absolute": Message("日志路径 {path} 不是绝对路径", "请给出绝对路径"),
    "submit.log_no_directory": Message("日志路径 {path}：目录 {directory} 不存在", "请运行 `mkdir -p {directory}`"),
    "submit.log_is_a_directory": Message("日志路径 {path} 是目录", "请指定其中的一个文件"),
    "submit.log_not_writable": Message("日志路径 {path}：目录 {directory} 不可写", "请换一个目录"),
    "submit.log_reserved": Message("日志路径 {path} 是 Tarmac 自用的文件", "请选择 Tarmac 目录之外的文件"),
    "submit.log_taken": Message(
        "任务 {job} 正在写 {path}，尚未结束", "请换一个文件；只有所有任务都用 --append 时才能共用一个文件"
    ),
    "submit.log_repeated": Message(
        "其中几个任务会写同一个文件 {path}",
        "去掉它（`tarmac log ID` 可查看各自的输出），或加上 --append 共用该文件",
    ),
    "submit.log_exists": Message("{path} 已经存在，不会覆盖", "加上 --append，或换一个名称"),
    "submit.text_too_long": Message(
        "有一个参数或环境变量长 {size} 字节，而 Linux 最多接受 {most} 字节", "请把它写入文件，再把文件名传给任务"
    ),
    "submit.texts_too_long": Message("参数或环境变量总共超过 {most} 字节", "请把它们写入文件，再把文件名传给任务"),
    "submit.nul": Message(
        "{field:select labels=名称、项目和标签}不能含有 NUL 字符", "请去掉它；没有程序能接收 NUL 字符"
    ),
    "submit.pinned_count": Message(
        "申请了 {gpus} 张 GPU，而 gpus_on 指定了 {pinned} 张", "去掉 -g，或指定与申请数相同的 GPU"
    ),
    "submit.pinned_and_excluded": Message("同一张 GPU 既被指定又被排除", "请从 --exclude-gpus 中去掉它"),
    "submit.two_shares": Message("gpu_memory_bytes 和 gpu_share 不能同时使用", "请使用 --gpu-mem 或 --gpu-share 之一"),
    "submit.share_of_no_gpu": Message(
        "申请了 GPU 的一部分，却没有申请 GPU", "去掉 -g，或去掉 --gpu-mem 和 --gpu-share"
    ),
    # 依赖
    "after.unknown_outcome": Message(
        "after {word}：{outcome:quoted} 不是一种结果", "请写 ID、ID:ok、ID:any 或 ID:fail，例如 7:any"
    ),
    "after.unknown_sibling": Message("after {word}：本次提交中没有这个任务", "请使用 #0{last:prefixed  到 #}"),
    "after.no_siblings": Message("after {word}：该请求没有提交任务", "请给出任务的 ID"),
    "after.unknown_job": Message("after {job}：任务 {job} 不存在", "运行 `tarmac ls -a` 查看所有任务"),
    "after.opposites": Message(
        "after {job}:ok 和 {job}:fail：任务不可能同时成功和失败", "用 {job}:any 表示两种结果都可以"
    ),
    "after.circle": Message("这些任务会互相等待：{circle:join  等待 }", "请从 `after` 中去掉其中一个"),
    # 按名称指定的 GPU
    "gpu.not_known_yet": Message("{nodes:plural 还不知道本机有哪些 GPU|还没有节点报告它的 GPU}", "请稍后重试"),
    "gpu.ambiguous": Message("{word} 匹配 {matches} 张 GPU", "请写出更多位 UUID：{uuids}"),
    "gpu.unknown_uuid": Message("没有 UUID 以 {word} 开头的 GPU", "运行 `tarmac gpus --json` 查看 UUID"),
    "gpu.unknown": Message("没有 GPU {word}", "可选：{known:list 无}；运行 `tarmac gpus` 查看"),
    # 任何机器都无法满足的请求
    "infeasible.no_gpus": Message(
        "申请了 {asked} 张 GPU；Tarmac {nodes:plural 在本机|在所有节点上都}没有找到 GPU",
        "不需要 GPU 请用 -g 0；运行 `tarmac gpus` 查看 GPU",
    ),
    "infeasible.too_few_gpus": Message(
        "申请了 {asked} 张 GPU；" + _HAS + " {have} 张",
        "用 -g 最多申请 {have} 张，不需要 GPU 请用 -g 0；运行 `tarmac gpus` 查看 GPU",
    ),
    "submit.fetch_path": Message(
        "--fetch {path}：不是任务目录中的路径",
        "请写相对于该目录的路径，不含 ..：results",
    ),
    "infeasible.files_missing": Message(
        "{nodes:plural 这台机器|每个节点}都缺少该任务需要的文件或目录",
        "请在那里创建它并运行 `tarmac edit ID --cwd DIR`，或使用 --snapshot",
    ),
    "submit.pinned_on_several_nodes": Message(
        "--gpus-on 指定的是一个节点上的 GPU，而 --nodes 申请了多个节点",
        "请去掉其中一个；--gpu-model 和 --min-gpu-mem 可在每个节点上选择 GPU",
    ),
    "infeasible.too_few_nodes": Message(
        "申请了 {asked} 个节点；共 {of} 个，其中 {have} 个满足任务对每个节点的要求",
        "用 --nodes 减少申请；运行 `tarmac gpus` 查看各节点的 GPU",
    ),
    "infeasible.pinned_gpus_gone": Message("任务指定的 GPU {gpus} 已不存在", "运行 `tarmac gpus` 查看 GPU"),
    "infeasible.host_memory": Message("申请了 {asked} 内存；" + _HAS + " {total}", "用 --mem 减少申请"),
    "infeasible.cpus": Message("申请了 {asked} 个 CPU 核；" + _HAS + " {total} 个", "用 --cpus 减少申请"),
    "infeasible.excluded": Message("申请了 {asked} 张 GPU，而全部 {of} 张都被排除", "请从 --exclude-gpus 中去掉一些"),
    "infeasible.mostly_excluded": Message(
        "申请了 {asked} 张 GPU，而 {of} 张中只有 {have} 张没有被排除", "请从 --exclude-gpus 中去掉一些"
    ),
    "infeasible.model": Message(
        "申请了 {asked} 张型号为 {models:or} 的 GPU；" + _HAS + " {have} 张{rest}",
        "运行 `tarmac gpus` 查看每张 GPU 的型号；减少申请，或去掉 --gpu-model",
    ),
    "infeasible.mig": Message("申请了 {asked} 张 GPU，而一个任务只能使用一个 MIG 实例", "请为每个实例提交一个任务"),
    "infeasible.mig_and_whole": Message(
        "申请了 {asked} 张 GPU，而一个任务只能使用一个 MIG 实例；" + _HAS + " {have} 张完整的 GPU{rest}",
        "请为每个实例提交一个任务",
    ),
    "infeasible.gpus_too_small": Message(
        "申请了 {asked} 张显存不小于 {size:size} 的 GPU；" + _HAS + " {have} 张{rest}",
        "运行 `tarmac gpus` 查看每张 GPU 的显存；请减少申请",
    ),
    "infeasible.every_gpu_too_small": Message(
        "申请了显存为 {size} 的 GPU；{nodes:plural |最接近的节点上}最大的 GPU 只有 {most}{rest}",
        "运行 `tarmac gpus` 查看每张 GPU 的显存；请减少申请",
    ),
    "infeasible.too_little_bookable": Message(
        "申请了 {asked} 张 GPU，每张 {size:size}；"
        + _HAS
        + " {have} 张{rest}，因为 keep_gpu_memory 在每张上保留了一部分",
        "减少申请，或用 `tarmac set keep_gpu_memory` 调低该设置",
    ),
    "infeasible.nowhere_bookable": Message(
        "在一张 GPU 上申请了 {size}；{nodes:plural |最接近的节点上}最多可申请 {most}，其余由 keep_gpu_memory 保留",
        "减少申请，或用 `tarmac set keep_gpu_memory` 调低该设置",
    ),
    "infeasible.pinned": Message(
        "申请了 {asked} 张 GPU；任务指定的 GPU 中有 {have} 张适用{rest}", "请用 --gpus-on 指定同样多的 GPU"
    ),
    "infeasible.without_excluded": Message("（不计被排除的）"),
    "infeasible.on_chosen_nodes": Message("{text}（按 --node 和 --exclude-node，只考虑 {nodes}）"),
    "infeasible.no_node_left": Message(
        "没有任务可以运行的节点{named:prefixed ：只能在 }{excluded:prefixed ，不能在 }",
        "请修改 --node 或 --exclude-node；运行 `tarmac node ls` 查看节点",
    ),
    "infeasible.only_watched": Message(
        "只有 {nodes:or} 能运行它，但 Tarmac 只监视这些节点，不在上面启动任务",
        "运行 `tarmac node ls` 查看哪些节点接受任务",
    ),
    "submit.node_unknown": Message("没有节点 {node}{near:prefixed ；是否指 }", "可选的节点：{known:list 无}"),
    "size.bytes": Message("{count} 字节"),
    "size.exactly": Message("{size}（{count} 字节）"),
}
