"""快照有什么问题，或对快照文件的请求有什么问题。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "snapshot.not_a_hash": Message(
        "{tree:quoted} 不是目录树的名称", "请用顶层目录的哈希值来命名，即 64 位十六进制数字"
    ),
    "snapshot.cut_off": Message("哈希值列表不完整", "每个对象请发送 32 字节"),
    "snapshot.not_in_tree": Message("有一个对象不属于该任务的快照", "只能指定其目录树中的对象"),
    "snapshot.malformed": Message("快照格式错误：{trouble}", "请用与控制器版本相同的客户端重新生成"),
    "snapshot.too_large": Message(
        "快照大小为 {size:size}，上限是 {limit:size}",
        "用 .gitignore 或 --link 排除一些目录，或调高设置 snapshot_limit",
    ),
    "snapshot.too_many": Message(
        "快照中有 {entries} 个文件和目录，上限是 {most} 个", "用 .gitignore 或 --link 排除一些目录"
    ),
    "snapshot.unknown": Message("快照 {tree} 没有保存", "先上传它的对象，再上传目录树，然后提交任务"),
    "snapshot.expected": Message(
        "设置 snapshot 已打开，而该任务没有快照", "用 --snapshot 生成快照，或加上 --no-snapshot"
    ),
    "snapshot.no_such_index": Message(
        "快照 {index} 不在本次提交的 {count} 个快照之中", "请把它列入 `snapshots`，从 0 开始计数"
    ),
    "snapshot.not_for_each": Message("`snapshot` 与所选的任务不一一对应", "请按 ID 为每个任务给出一个序号，或 false"),
    "snapshot.unused": Message("给出了 `snapshots`，但 `snapshot` 没有引用它们", "去掉它们，或为每个任务给出一个序号"),
    "snapshot.bad_path": Message("{path} 不在快照的目录之下", "请给出相对路径，不能含有 `..`"),
    "snapshot.root_not_absolute": Message("快照的根目录 {path} 不是绝对路径", "请给出绝对路径"),
    "snapshot.none": Message("任务 {job} 没有快照：它运行的是启动时目录中的内容", "下次提交时加上 --snapshot"),
    "snapshot.removed": Message(
        "任务 {job} 的快照没有保存：它已被删除或损坏，或者该任务是导入的",
        "请用原来的文件重新提交任务；snapshot_keep_s 和 snapshot_keep_size 决定快照何时删除",
    ),
    "snapshot.broken": Message("无法读取快照：{trouble}", "请用原来的文件重新提交任务"),
    "snapshot.too_much": Message("返回的内容会超过 {most:size}", "请减少一次请求的对象数"),
    "snapshot.store": Message("快照无法保存到 {path}：{trouble}", "请清理空间；如果文件已损坏，请把它移走"),
}
