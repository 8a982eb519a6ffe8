"""Settings and the config file: what a value must be, and what a name of another tool is called here."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

_PER_USER = "set {name} to one number for all users and others for some, such as `1, ann=2`"
_KINDS = (
    "{kind:select fraction=a fraction from 0 to 1, such as 0.2 or 20%|"
    "size=a size with its unit, such as 512M or 8G|"
    "count=a whole number from 0 to 1000000|words=a list separated by commas|flag=on or off|"
    "text=a string of at most 4096 characters}"
)

MESSAGES: dict[str, Message] = {
    "setting.unknown": Message("unknown setting {name}", "run `tarmac set` to list all settings"),
    "setting.misspelled": Message("unknown setting {name}", "did you mean {near}?"),
    "setting.renamed": Message("{name} is a setting of another tool", "use {now} instead"),
    "setting.of_another_tool": Message(
        "{name} is a setting of another tool",
        "{instead:select retries=use retries instead; it counts the runs after the first one, so 2 means 3 runs in all|"
        "polling=nothing to set: Tarmac reacts to changes instead of polling|"
        "saving=nothing to set: every change is on disk before it is acknowledged|"
        "drain=use `tarmac gpu drain` and `tarmac gpu resume`|slots=use `tarmac gpu slots` to share a GPU|"
        "time_limit=set it for each job with `tarmac add --time 6h`|shares=use shares instead, such as `1, ann=2`}",
    ),
    "setting.not_a_choice": Message("{name} cannot be {value:quoted}", "set {name} to {choices:or}"),
    "setting.wrong_kind": Message("{name} = {value:quoted} is not " + _KINDS, "set {name} to " + _KINDS),
    "setting.without_unit": Message(
        "{name} = {value:quoted} is not " + _KINDS, "add the unit: set {name} to {number}G or {number}M"
    ),
    "setting.percent_meant": Message(
        "{name} = {value:quoted} is not " + _KINDS, "set {name} to {number}% or {fraction}"
    ),
    "setting.not_a_duration": Message(
        "{name} = {value:quoted} is not a duration from {least:duration} to {most:duration}",
        "set {name} to a duration from {least:duration} to {most:duration}, such as 90, 30m or 1.5h",
    ),
    "setting.out_of_range": Message(
        "{name} = {value:duration} is not from {least:duration} to {most:duration}",
        "set {name} to a duration from {least:duration} to {most:duration}",
    ),
    "setting.reserves_all_memory": Message(
        "keep_gpu_memory = {value} leaves no memory to jobs that share a GPU",
        "set keep_gpu_memory to a fraction below 1, such as 0.1 or 10%",
    ),
    "setting.not_absolute": Message(
        "{name} must be an absolute path, not {value:quoted}", "set it to a path that begins with /"
    ),
    "setting.no_directory": Message(
        "{name} {path}: directory {directory} does not exist", "create it first, or choose another path"
    ),
    "setting.not_writable": Message("{name} {path} cannot be written", "choose a file that you may write to"),
    "setting.not_a_dump": Message(
        "history_dump {path} is not a file of exported jobs", "choose a new file, or one that Tarmac wrote"
    ),
    "setting.log_limit_too_small": Message(
        "log_limit = {value:size} is less than {least:size}", "set log_limit to 64K or more, or to 0 for no limit"
    ),
    "setting.too_many_retries": Message(
        "retries = {value} is more than {most}", "set retries to a whole number from 0 to {most}"
    ),
    "setting.ignores_everything": Message(
        "{pattern} matches every process of every program", "name a program, such as Xorg or kwin_*"
    ),
    "setting.stop_before_warning": Message(
        "idle_stop_s ({stop_s:duration}) would be below idle_warn_s ({warn_s:duration}); "
        "a job is warned before it is stopped",
        "set idle_stop_s to {warn_s:duration} or more, or lower idle_warn_s first",
    ),
    # numbers per user
    "setting.not_a_number": Message("{name} = {value:quoted}: {part:quoted} is not a number", _PER_USER),
    "setting.number_too_small": Message("{name} = {value:quoted}: {number} is less than {least}", _PER_USER),
    "setting.number_too_large": Message("{name} = {value:quoted}: {number} is more than {most}", _PER_USER),
    "setting.no_user": Message("{name} = {value:quoted}: {part:quoted} does not name a user", _PER_USER),
    "setting.user_twice": Message("{name} = {value:quoted}: {user} is given twice", _PER_USER),
    "setting.default_twice": Message("{name} = {value:quoted}: the number for all users is given twice", _PER_USER),
    "setting.too_many_users": Message("{name} names more than {most} users", _PER_USER),
    # the config file
    "config.unreadable": Message("cannot read {path}: {error}", "fix its permissions, or move it away"),
    "config.of_another_user": Message(
        "the config file of this queue belongs to {owner}", "look at your defaults in your own config file"
    ),
    "config.unsafe": Message("{text}", "{fix}"),
    "config.not_toml": Message("{path} is not valid TOML: {error}", "fix that line, or move the file away"),
    "config.setting": Message("{path}: {problem}", "{problem:hint}"),
    "config.unknown_key": Message("{path}: unknown key {key}", "use one of these keys: {known}"),
    "config.misspelled_key": Message("{path}: unknown key {key}", "did you mean {near}?"),
    "config.defaults_not_a_table": Message(
        "{path}: defaults is not a table", "write [defaults] on a line, and options of jobs below it: gpus = 2"
    ),
    "config.gpus_not_a_list": Message(
        "{path}: gpus is not a list of GPUs", 'write [[gpus]] with index = 0, model = "…", memory = "24G"'
    ),
    "config.gpu_not_understood": Message(
        "{path}: cannot understand GPU {number} of gpus",
        'write [[gpus]] with index = 0, model = "…", memory = "24G"',
    ),
}
