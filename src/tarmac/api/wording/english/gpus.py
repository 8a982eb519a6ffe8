"""GPUs and the processes on them."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "gpu.held": Message("held by {processes}"),
    "gpu.recovering": Message("was unhealthy ({reason}); used again in {seconds:in_words}"),
    "gpu.unreported": Message("the agent does not report it"),
    "gpu.warning": Message("job {job}: {warning}"),
    "gpu.still_held": Message("GPU {gpu} is held by job {job}", "wait until the job has ended, then forget the GPU"),
    "gpu.present": Message(
        "GPU {gpu} is present; only a missing GPU can be forgotten",
        "run `tarmac gpu drain {gpu}` to stop using it",
    ),
    "gpu.unhealthy": Message(
        "GPU {gpu} is still unhealthy: {health}",
        "fix it first; Tarmac uses it again automatically once it is healthy",
    ),
    "process.none_named": Message("no process is named", "give its pid or the name of its program"),
    "process.pid_and_program": Message("both a pid and a program are named", "give only one of the two"),
    "process.unknown": Message("process {pid} does not exist", "run `tarmac gpus` to list the processes on the GPUs"),
    "process.pid_not_ignored": Message("pid {pid} is not ignored", "choose an ignored pid: {ignored:list none}"),
    "process.program_not_ignored": Message(
        "{program} is not ignored", "choose an ignored program: {ignored:list none}"
    ),
    "process.ignored_by_default": Message(
        "{program} is ignored by default, so nothing needs to be undone",
        "to count it on GPUs anyway, run `tarmac gpu ignore-process --off {program}`",
    ),
    "process.matches_pattern": Message(
        "{program} is ignored because it matches {pattern}",
        "run `tarmac gpu ignore-process {is_default:select True=--off|False=--forget} '{pattern}'`",
    ),
    "process.off_is_for_programs": Message(
        "`off` is for a program that is ignored by default", "use `forget` to undo what a user added"
    ),
    "process.program_with_comma": Message(
        "{program} is not the name of a program: it contains a comma", "give one program at a time"
    ),
    "process.foreign": Message("pid {pid} of {user}{job:prefixed , job }{command:parenthesized}{age:prefixed  }"),
    "process.age": Message("for {seconds:in_words}"),
    "process.unknown_user": Message("an unknown user"),
    "process.more_foreign": Message("{processes}; and {more} more"),
}
