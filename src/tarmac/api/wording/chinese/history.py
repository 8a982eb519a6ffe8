"""已结束的任务：列出、清理、导出和导入。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "history.not_ended": Message("{state:quoted} 不是已结束任务的状态", "可选：{known}；其他任务用 `tarmac ls` 查看"),
    "history.wrong_cursor": Message("after {text:quoted} 不是某一页的结尾", "请传入上一页返回的 `next`，或省略它"),
    "history.owner_and_all": Message("owner 和 all_owners 不能同时使用", "去掉其中一个"),
    "history.cannot_dump": Message(
        "没有删除任何任务：无法写入 {path}：{error}", "运行 `tarmac set history_dump` 查看或更换文件"
    ),
    "history.not_a_dump": Message(
        "没有删除任何任务：{path} 不是任务导出文件", "把 history_dump 设为一个新文件，或由 Tarmac 写出的文件"
    ),
    "history.not_an_export": Message("这不是任务导出文件", "请指定由 `tarmac export` 或 history_dump 写出的文件"),
    "history.newer_export": Message("该文件由更新版本的 Tarmac{version:around  | }写出", "先升级 Tarmac，再导入"),
    "history.wrong_record": Message(
        "第 {line} 行{what:select damaged=不是本版本的任务|not_ended=是尚未结束的任务|unstorable=无法保存}：{detail}",
        "删除这一行，或重新导出任务",
    ),
    "history.others_job": Message(
        "第 {line} 行：该任务属于 {owner}，不属于 {caller}", "只有管理员可以导入其他用户的任务"
    ),
    "history.not_imported": Message(
        "任务 {job} 没有导入过第 {attempt} 次运行", "请先导入该任务；其他任务的日志不会被改动"
    ),
    "history.log_not_written": Message("无法写入任务 {job} 的日志：{error}", "清理磁盘空间，然后重新导入该文件"),
    "history.unindexed": Message("正在重建历史索引，还缺 {jobs} 个任务", "请一分钟后再试"),
    "history.no_index": Message("无法搜索历史：{path}：{error}", "清理磁盘空间；`tarmac ls -a` 可列出所有任务"),
}
