"""设置和配置文件：值应该是什么，以及其他工具的设置在这里叫什么。"""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_PER_USER = "给 {name} 设一个适用于所有用户的数，并可为部分用户另设，例如 `1, ann=2`"
_KINDS = (
    "{kind:select fraction=0 到 1 之间的比例，例如 0.2 或 20%|"
    "size=带单位的大小，例如 512M 或 8G|"
    "count=0 到 1000000 之间的整数|words=用逗号分隔的列表|flag=on 或 off|"
    "text=不超过 4096 个字符的字符串}"
)

MESSAGES: dict[str, Message] = {
    "setting.unknown": Message("没有设置项 {name}", "运行 `tarmac set` 查看所有设置"),
    "setting.misspelled": Message("没有设置项 {name}", "是否想用 {near}？"),
    "setting.renamed": Message("{name} 是其他工具的设置", "请改用 {now}"),
    "setting.of_another_tool": Message(
        "{name} 是其他工具的设置",
        "{instead:select retries=请改用 retries；它不计第一次运行，所以 2 表示一共运行 3 次|"
        "polling=无需设置：Tarmac 对变化作出反应，不做轮询|"
        "saving=无需设置：每次改动都先写入磁盘，然后才确认|"
        "drain=请用 `tarmac gpu drain` 和 `tarmac gpu resume`|slots=请用 `tarmac gpu slots` 共享 GPU|"
        "time_limit=请用 `tarmac add --time 6h` 为每个任务设置|shares=请改用 shares，例如 `1, ann=2`}",
    ),
    "setting.not_a_choice": Message("{name} 不能设为 {value:quoted}", "{name} 可设为 {choices:or}"),
    "setting.wrong_kind": Message("{name} = {value:quoted} 不是" + _KINDS, "请把 {name} 设为" + _KINDS),
    "setting.without_unit": Message(
        "{name} = {value:quoted} 不是" + _KINDS, "请加上单位：把 {name} 设为 {number}G 或 {number}M"
    ),
    "setting.percent_meant": Message(
        "{name} = {value:quoted} 不是" + _KINDS, "请把 {name} 设为 {number}% 或 {fraction}"
    ),
    "setting.not_a_duration": Message(
        "{name} = {value:quoted} 不是 {least:duration} 到 {most:duration} 之间的时长",
        "请把 {name} 设为 {least:duration} 到 {most:duration} 之间的时长，例如 90、30m 或 1.5h",
    ),
    "setting.out_of_range": Message(
        "{name} = {value:duration} 不在 {least:duration} 到 {most:duration} 之间",
        "请把 {name} 设为 {least:duration} 到 {most:duration} 之间的时长",
    ),
    "setting.reserves_all_memory": Message(
        "keep_gpu_memory = {value} 会让共享 GPU 的任务没有显存可用",
        "请把 keep_gpu_memory 设为小于 1 的比例，例如 0.1 或 10%",
    ),
    "setting.not_absolute": Message("{name} 必须是绝对路径，不能是 {value:quoted}", "请设为以 / 开头的路径"),
    "setting.no_directory": Message("{name} {path}：目录 {directory} 不存在", "请先创建它，或换一个路径"),
    "setting.not_writable": Message("{name} {path} 不可写", "请选择一个你有写权限的文件"),
    "setting.not_a_dump": Message("history_dump {path} 不是任务导出文件", "请选择一个新文件，或由 Tarmac 写出的文件"),
    "setting.log_limit_too_small": Message(
        "log_limit = {value:size} 小于 {least:size}", "请把 log_limit 设为 64K 或更大，0 表示不限"
    ),
    "setting.too_many_retries": Message("retries = {value} 大于 {most}", "请把 retries 设为 0 到 {most} 之间的整数"),
    "setting.ignores_everything": Message("{pattern} 会匹配所有程序的所有进程", "请写程序名，例如 Xorg 或 kwin_*"),
    "setting.stop_before_warning": Message(
        "idle_stop_s（{stop_s:duration}）会小于 idle_warn_s（{warn_s:duration}），而任务应先收到警告再被停止",
        "请把 idle_stop_s 设为 {warn_s:duration} 或更长，或先减小 idle_warn_s",
    ),
    # 按用户设置的数
    "setting.not_a_number": Message("{name} = {value:quoted}：{part:quoted} 不是数", _PER_USER),
    "setting.number_too_small": Message("{name} = {value:quoted}：{number} 小于 {least}", _PER_USER),
    "setting.number_too_large": Message("{name} = {value:quoted}：{number} 大于 {most}", _PER_USER),
    "setting.no_user": Message("{name} = {value:quoted}：{part:quoted} 没有指明用户", _PER_USER),
    "setting.user_twice": Message("{name} = {value:quoted}：{user} 出现了两次", _PER_USER),
    "setting.default_twice": Message("{name} = {value:quoted}：适用于所有用户的数出现了两次", _PER_USER),
    "setting.too_many_users": Message("{name} 中的用户超过 {most} 个", _PER_USER),
    # 配置文件
    "config.unreadable": Message("无法读取 {path}：{error}", "请修正它的权限，或把它移走"),
    "config.unsafe": Message("{text}", "{fix}"),
    "config.of_another_user": Message("本队列的配置文件属于 {owner}", "你的默认值请在自己的配置文件中查看"),
    "config.not_toml": Message("{path} 不是有效的 TOML：{error}", "请修正该行，或把文件移走"),
    "config.setting": Message("{path}：{problem}", "{problem:hint}"),
    "config.unknown_key": Message("{path}：未知的键 {key}", "可用的键：{known}"),
    "config.misspelled_key": Message("{path}：未知的键 {key}", "是否想用 {near}？"),
    "config.defaults_not_a_table": Message(
        "{path}：defaults 不是表", "请把 [defaults] 单独写一行，在下面写任务选项：gpus = 2"
    ),
    "config.gpus_not_a_list": Message(
        "{path}：gpus 不是 GPU 列表", '请写成 [[gpus]]，包含 index = 0、model = "…"、memory = "24G"'
    ),
    "config.gpu_not_understood": Message(
        "{path}：无法理解 gpus 中的第 {number} 张 GPU",
        '请写成 [[gpus]]，包含 index = 0、model = "…"、memory = "24G"',
    ),
}
