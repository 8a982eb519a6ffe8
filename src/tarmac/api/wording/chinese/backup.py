"""备份与恢复。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "backup.no_database": Message("{state} 中没有可备份的数据库", "运行 `tarmac status` 查看状态目录的位置"),
    "backup.not_ours": Message("{path} 不是 Tarmac 的备份", "请指定由 `tarmac backup` 生成的文件"),
    "backup.newer": Message("{path} 由更新版本的 Tarmac{version:around  | }写出", "先升级 Tarmac，再恢复"),
    "backup.damaged": Message("{path} 已损坏：{why}", "请换一个备份；没有做任何改动"),
    "backup.controller_runs": Message("{state} 的控制器正在运行", "先运行 `tarmac stop`，再重试"),
}
