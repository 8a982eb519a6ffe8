"""核心得出的结论：重新排队、结果未知、警告、通知，以及预计时间的依据。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "requeue.preempted": Message("被{for_job:around 任务 | }抢占"),
    "requeue.attempt": Message("第 {attempt} 次运行{what}"),
    "requeue.queue_stopped": Message("{by} 停止了队列"),
    "requeue.time_limit": Message("达到时间限制"),
    "requeue.failed": Message(
        "{reason:select exit=以退出码|signal=被信号终止：|oom-gpu=显存不足|"
        "oom-host=内存不足|timeout=达到时间限制|launch=无法启动|"
        "killed=被外部终止：|disk-full=因磁盘已满而失败|no-cwd=因工作目录不存在而失败|"
        "no-interpreter=因找不到解释器而失败|suspend=在机器休眠后失败|reboot=因机器重启而结束|lost=丢失}"
        "{detail:prefixed  }{reason:only exit= 结束}"
    ),
    "requeue.missing": Message("{node} 上没有 {path}，因此任务将在另一个节点上运行"),
    "requeue.retried": Message("{by} 重试了它"),
    "dependency.unmet": Message(
        "任务 {job} {outcome:select ok=成功了|fail=没有成功|None=已不存在}，"
        "而本任务只在它{on:select ok=成功|fail=失败|any=结束}后才启动"
    ),
    "failed.no_secrets": Message("缺少机密环境变量的值：{names}"),
    "failed.no_code": Message("无法把它的代码复制到 {node}：{trouble}"),
    "failed.no_fetch": Message("无法在状态目录中记录 --fetch：{trouble}"),
    "failed.stopped_early": Message("在启动之前已被停止"),
    "failed.many_secrets": Message("缺少机密环境变量的值：{names} 以及另外 {more} 个"),
    "failed.crowded_out": Message("它在节点 {node} 上的 GPU 被一个数据库中没有记录的任务占用"),
    "failed.stopped_part": Message("在启动之前就被停止"),
    "unknown.adopted": Message("它已经结束，但只有启动它的进程知道退出状态"),
    "unknown.still_running": Message("它的守护进程被杀，但任务仍在运行：Tarmac 会继续监视其进程，但无法得知退出码"),
    "unknown.gone": Message("它的守护进程被杀，退出码未知；其所有进程都已结束"),
    "unknown.no_record": Message("节点上没有这次运行的记录"),
    "unknown.taken_in": Message("从节点 {node} 收回；数据库中没有它的记录"),
    "unknown.node_forgotten": Message("{by} 确认节点 {node} 已永久失效；无人知道这次运行如何结束"),
    "drained.failures": Message("{node} 上最近的 {count} 个任务（来自 {owners} 个用户）都在启动后 {within_s} 秒内失败"),
    "drained.failures_alike": Message(
        "{node} 上最近的 {count} 个任务（来自 {owners} 个用户）都在启动后 {within_s} 秒内失败，"
        "其中 {alike} 个的错误是：{line}"
    ),
    "suspended.failures": Message(
        "{owner} 最近的 {count} 个任务都在启动后 {within_s} 秒内失败；最新的是任务 {job}"
        "（{reason:select exit=退出码|signal=被信号终止：|oom-gpu=显存不足|oom-host=内存不足|killed=被外部终止：|"
        "disk-full=磁盘已满|no-cwd=工作目录不存在|no-interpreter=找不到解释器|launch=无法启动|timeout=超出时间限制|"
        "suspend=机器休眠|reboot=机器重启|lost=丢失}{detail:prefixed  }）"
    ),
    "suspended.failures_alike": Message(
        "{owner} 最近的 {count} 个任务都在启动后 {within_s} 秒内失败，其中 {alike} 个的错误是：{line}"
    ),
    "paused.stopped": Message("已停止；原先运行的任务排在队列最前面"),
    "warning.idle": Message("它的 GPU 已空闲 {seconds:in_words}"),
    "warning.overbooked": Message("它在 GPU {gpu} 上使用了 {taken_bytes:size}，而只申请了 {booked_bytes:size}"),
    "notice.job_warned": Message("任务 {job}：{warning}"),
    "notice.job_stopped": Message("任务 {job} 被停止：{warning}"),
    "notice.gpu_drained": Message("{node} 上的 {gpu} 已停用：{reason}"),
    "notice.node_drained": Message(
        "节点 {node} 已停用，不再启动任务：{reason}；排除原因后，请运行 `tarmac node resume {node}`"
    ),
    "notice.owner_suspended": Message("{owner} 已被停止调度，其任务不再启动：{reason}"),
    "notice.reservation_released": Message("{owner} 的预留 {reservation} 已释放：{within_s:in_words}内没有使用"),
    "unsuitable.pin": Message("不在任务指定的 GPU 之列"),
    "unsuitable.exclude": Message("已被任务排除"),
    "unsuitable.model": Message("{model} 不是 {asked_models:or}"),
    "unsuitable.mig": Message("是 MIG 实例；一个任务只能使用一个"),
    "unsuitable.size": Message("显存太小"),
    "unsuitable.kept": Message("显存太小，因为 keep_gpu_memory 保留了一部分"),
    "failed.full_disk": Message("它结束时，日志所在的磁盘已满"),
    "remedy.oom_gpu": Message(
        "减小 batch 或模型，申请显存更大的 GPU（--min-gpu-mem）或更多显存（--gpu-mem），"
        "或让 Tarmac 用更多显存重试：--on-oom grow"
    ),
    "remedy.oom_host": Message(
        "机器内存不足：一次少读一些数据，减少 data loader 的 worker，并用 --mem 申请任务所需的内存"
    ),
    "remedy.killed": Message(
        "Tarmac 之外的进程发出了 SIGKILL：可能是有人执行了 `kill -9`，容器或批处理系统达到内存上限，"
        "或用户态的 OOM killer（如 earlyoom、systemd-oomd）；请查看它们的日志"
    ),
    "remedy.disk_full": Message("清理日志所在磁盘的空间，或用 --log 写到别处；用 `df -h` 和 `df -i` 查看剩余空间"),
    "remedy.other_disk_full": Message(
        "错误指出磁盘或配额已满：请清理任务写入位置的空间；用 `df -h`、`df -i` 和 `quota` 查看剩余空间"
    ),
    "remedy.no_cwd": Message("重新创建 {cwd} 并运行 `tarmac retry {job}`，或从其他目录提交任务"),
    "remedy.no_interpreter": Message(
        "请检查节点上的解释器及其环境（venv、conda）是否还在；重新创建它们，或换一个解释器提交任务"
    ),
    "remedy.no_secrets": Message(
        "这些值原本在数据库旁的 `secrets` 目录中：请把它与数据库一起恢复，"
        "或在有这些变量的 shell 中重新设置：`tarmac rerun {job} --env NAME`"
    ),
    "remedy.suspend": Message(
        "任务运行时机器进入了休眠，显存内容可能因此丢失；任务运行时请不要让机器休眠，"
        "例如使用 `systemd-inhibit --what=sleep`"
    ),
    "remedy.reboot": Message("机器重启过；运行 `tarmac retry {job}` 再次运行该任务"),
    "remedy.warned": Message(
        "--signal {warn} 用这个信号发出警告，没有处理它的进程会因此结束：请在程序中处理该信号，"
        "用 B: 只警告主进程，或取消警告"
    ),
    "remedy.timeout": Message("用 --time 延长时间限制，或保存检查点，并用 --requeue 从最近的检查点继续"),
    "basis.stop": Message("正在停止的任务"),
    "basis.limit": Message("任务的时间限制"),
    "basis.history": Message("以往同类任务的用时"),
    "basis.progress": Message("任务的进度"),
    "basis.begin": Message("它的最早启动时间"),
    "basis.retry": Message("它的重试时间"),
    "basis.reservation": Message("预留的结束时间"),
    "basis.free_now": Message("目前空闲的资源"),
    "basis.several": Message("{bases:join 、}"),
}
