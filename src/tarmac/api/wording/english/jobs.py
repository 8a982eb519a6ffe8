"""Jobs: which ones are meant, who may act on them, and what their state does not allow."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "job.idle": Message("idle for {seconds:in_words}"),
    "job.over_booking": Message("takes more GPU memory than it booked"),
    "jobs.more_than_one": Message("{word:quoted} means more than one job", "give a single id, or `last`"),
    "jobs.unknown": Message(
        "{jobs:plural job|jobs} {jobs} {jobs:plural does|do} not exist", "run `tarmac ls -a` to list all known jobs"
    ),
    "jobs.no_last": Message(
        "you have not submitted a job yet, so `last` has no meaning", "run `tarmac add -- CMD…` to submit one"
    ),
    "jobs.not_an_id": Message(
        "{word:quoted} is not a job id", "give ids such as 7, ranges such as 3-7, `last` or `all`"
    ),
    "job.not_an_id": Message("{word:quoted} is not a job id", "give a single id such as 7, or `last`"),
    "jobs.id_too_large": Message(
        "{word:quoted} is larger than any job id", "run `tarmac ls -a` to list all known jobs"
    ),
    "jobs.not_a_range": Message("{word:quoted} is not a range of job ids", "write the lower id first: {stop}-{start}"),
    "jobs.unknown_state": Message("{state:quoted} is not a job state", "choose one of {known}"),
    "pause.clock_runs_on": Message(
        "an older version of Tarmac started it, so its time limit would not wait; use --count-paused to pause it anyway"
    ),
    # who may
    "permission.admin_only": Message(
        "only admins may {action:select urgent=submit urgent jobs|make_urgent=make a job urgent|"
        "start=start a job out of turn|stop=stop the queue|queue=pause, drain or resume the queue|"
        "set=change settings|reserve=reserve GPUs|notice=show a notice to all users|clean=remove jobs of other users|"
        "gpus=drain, resume, forget or share GPUs|ignore=ignore processes on GPUs|log=read the log of the controller|"
        "nodes=add, change, drain or remove nodes|end=stop Tarmac}",
        "ask an admin; run `tarmac set admins` to see who is one",
    ),
    "permission.not_owner": Message(
        "job {job} belongs to {owner}; nothing was done", "select only your own jobs with `--owner {caller}`"
    ),
    "permission.other_queue": Message("this queue belongs to {owner}", "use your own: unset TARMAC_HOME and try again"),
    "jobs.none_selected": Message("no jobs are selected", "give ids, `last`, `all`, or a filter such as --name"),
    "jobs.no_match": Message("no matching jobs", "run `tarmac ls -a` to list all jobs"),
    "jobs.unknown_field": Message("a job has no field {field:quoted}", "choose from {known}"),
    "jobs.still_running": Message(
        "{jobs:jobs} {jobs:plural is|are} still running; nothing was removed",
        "run `tarmac kill {first}` and wait for its end first",
    ),
    "jobs.removed_in_part": Message(
        "{jobs:jobs} {jobs:plural has|have} started meanwhile; {removed:jobs} ({count} in total) "
        "{removed:plural was|were} already removed, the other jobs were not",
        "run `tarmac kill {first}`, wait for its end, and run the command again",
    ),
    "jobs.maybe_running": Message(
        "the state of {jobs:jobs} is stale: nothing can be written, so {jobs:plural its|their} end is not known; "
        "nothing was removed",
        "run `tarmac show {first}` to see more; try again once the state can be written",
    ),
    "job.not_waiting": Message(
        "job {job} is not waiting: it {state:select ended=has ended|starting=is starting|running=is running|"
        "paused=is paused|stopping=is stopping|unknown=is unknown}",
        "run `tarmac show {job}` to see more",
    ),
    "job.cannot_move": Message(
        "job {job} is {state:select draft=a draft}, so it cannot be moved", "run `tarmac release {job}` first"
    ),
    "move.too_many": Message(
        "{jobs} jobs match, and at most {most} can be moved at once", "change their order with `tarmac edit --priority`"
    ),
    "start.wrong_count": Message(
        "job {job} requests {asked:n GPU}, but {named} {named:plural is|are} named", "name {asked:n GPU}"
    ),
    "start.several_nodes": Message(
        "job {job} runs on several nodes at once, so it cannot be started by force",
        "move it to the front instead: `tarmac move {job} first`",
    ),
    "start.no_machine": Message(
        "no reachable machine has the {asked:n GPU} that job {job} requests", "try again later"
    ),
    "start.node_closed": Message(
        "job {job} could start on {node}, "
        "but {watch_only:select True=Tarmac only watches this node|False=it is drained}",
        "run `tarmac node resume {node}` if it is drained, or choose GPUs of another node with --gpus-on",
    ),
    "start.gpu_held": Message("GPU {gpu} is held by {jobs:jobs}"),
    "start.double_booking": Message(
        "{held:join ; }", "add --yes to start the job anyway; both would use the GPU at once"
    ),
    "retry.failed_and_state": Message("`failed` and `state` both select jobs by state", "leave out one of them"),
    "retry.still_waits": Message(
        "job {job} is {state:select draft=a draft} and has not ended", "run `tarmac why {job}` to see what it waits for"
    ),
    "retry.not_ended": Message(
        "job {job} is {state:select unknown=unknown, and its processes may still run}; "
        "only jobs that have ended can be retried",
        "wait for its end, or run `tarmac kill {job}` first",
    ),
    "retry.failed_again": Message(
        "job {job} failed again: {reason}; to retry the jobs together, run `tarmac retry {ids:join  }`"
    ),
    "retry.adopted": Message(
        "job {job} was adopted: Tarmac did not start it and cannot start it again", "queue its command: `tarmac add`"
    ),
    "retry.no_environment": Message(
        "the environment of job {job} is not known, because it was taken in from its node",
        "queue its command again: `tarmac add`",
    ),
    "groups.no_last": Message("you have no array, sweep or batch", "run `tarmac ls --groups` to list all groups"),
    "groups.unknown_id": Message(
        "no group has the id {group}{of_job:prefixed ; this job is part of group }",
        "run `tarmac ls --groups` to list the groups",
    ),
    "groups.unknown_name": Message(
        "no group is named {group:quoted}{meant:prefixed ; the nearest name is }",
        "run `tarmac ls --groups` to list the groups",
    ),
    "results.nothing_asked": Message(
        "no metric is given",
        "give a pattern for the log, such as --metric 'acc=([0-9.]+)', or a file: --json metrics.json",
    ),
    "results.file_elsewhere": Message(
        "{file:quoted} is not inside the directory of a job", "give a path relative to that directory, without `..`"
    ),
    "results.too_many": Message("these are {jobs} jobs; the limit is {most}", "select fewer"),
    "results.slow_pattern": Message(
        "searching the logs takes too long with this pattern", "simplify it: avoid nested `*` and `+`"
    ),
    "results.bad_pattern": Message("metric {pattern:quoted} is not a regular expression: {trouble}"),
    "results.no_value": Message(
        "metric {pattern:quoted} does not say which part is the value",
        "put the value in parentheses: '{name}=([\\d.]+)'",
    ),
    "results.same_name": Message("two metrics are named {name:quoted}", "name them with groups: '(?P<best>…)'"),
    "results.no_such_group": Message("metric {pattern:quoted} has no group {group}"),
    "edit.not_in_a_group": Message("job {job} is not part of a group, so max_running does not apply", "leave it out"),
    "template.unknown": Message("template {name} does not exist", "run `tarmac template ls` to list your templates"),
    "template.misspelled": Message("template {name} does not exist", "did you mean {near}?"),
    "template.bad_name": Message(
        "the name of a template must have 1 to {most} printable characters without slashes, and not be a dot",
        "choose a name such as big",
    ),
    "template.job_or_form": Message("a template is saved from a job or from a form", "give either `job` or `form`"),
    "template.too_many": Message("you have {most} templates already", "remove one with `tarmac template rm`"),
    "clone.too_many": Message("selected {jobs} jobs; at most {most} can be copied at once", "select fewer jobs"),
    "clone.not_owner": Message(
        "job {job} belongs to {owner}; only {owner} may copy it", "queue its command with `tarmac add`"
    ),
    "clone.adopted": Message(
        "job {job} was adopted, so Tarmac cannot start it again", "queue its command with `tarmac add`"
    ),
    "label.too_many_tags": Message("a job can have at most {most} tags", "remove some of them"),
    "label.empty_tag": Message("a tag is empty", "write a word, such as baseline"),
    "label.bad_tag": Message(
        "{tag:quoted} is not a tag: it contains a comma or a control character", "give each tag separately"
    ),
    "edit.of_job": Message("job {job}: {problem}", "nothing was changed"),
    "edit.needs_gpu": Message(
        "{option} needs a GPU, but the job requests none", "leave it out, or request GPUs with -g"
    ),
    "edit.no_environment": Message(
        "the environment of the job is not known, so its variables cannot be changed", "leave out env"
    ),
    # files that --fetch did not copy
    "fetch.missing": Message("{path} does not exist on the node"),
    "fetch.newer": Message("{path} is newer here, so it was not replaced"),
    "fetch.link": Message("{path} is a symbolic link that leads out of the directory: {target}"),
    "fetch.special": Message("{path} is not a regular file"),
    "fetch.in_the_way": Message("{path} is something else here, so it was not replaced"),
    "fetch.changing": Message("{path} changes while it is copied"),
    "fetch.too_many": Message("{path} and others have more than {most} files"),
    "fetch.unreadable": Message("{path} cannot be read on the node: {trouble}"),
    "fetch.unwritable": Message("{path} cannot be written here: {trouble}"),
    "edit.no_secrets": Message(
        "the values of secret variables of the job are missing: {names:join , }",
        "set them again, too: --env {first}",
    ),
    "edit.runs_as_owner": Message(
        "job {job} belongs to {owner}; only {owner} may change {field}", "ask {owner} to do it, or to cancel the job"
    ),
    "edit.nothing": Message("no change was given", "give at least one of {fields}"),
    "adopt.gpu_held": Message("GPU {index} is held by job {job}", "name other GPUs with --gpus, or none"),
    "adopt.init": Message("process 1 cannot be adopted: it is the init process", "give the pid of your process"),
    "adopt.not_owner": Message("process {pid} belongs to another user", "ask its owner to adopt it"),
    "adopt.is_a_job": Message("process {pid} already belongs to job {job}", "run `tarmac show {job}` to see it"),
    "adopt.ended": Message("process {pid} has ended", "adopt a process that runs"),
    # output
    "log.adopted": Message(
        "job {job} was adopted: Tarmac does not capture its output", "look where you started the process"
    ),
    "log.node_removed": Message(
        "the output of job {job} was on node {node}, which was removed", "look for it on that machine"
    ),
    "log.gone": Message(
        "the output of job {job} is missing: {path} does not exist",
        "the file may have been moved or removed; run `tarmac show {job}` to see what is known about the job",
    ),
    "log.no_attempt": Message(
        "job {job} has {attempts:n attempt}", "leave out --attempt; run `tarmac show {job}` to see its history"
    ),
    "log.one_file": Message(
        "job {job} writes the output of all attempts to one file: {path}", "leave out --attempt to print all of it"
    ),
    "log.merged": Message("job {job} writes stdout and stderr to one file", "leave out --stderr to print both"),
    "log.not_on_node": Message("job {job} does not run on node {node}", "choose one of its nodes: {nodes}"),
    "log.not_started": Message(
        "job {job} has not started, so it has no output yet", "run `tarmac log -f {job}` to wait for it"
    ),
    "log.error_alone": Message(
        "error cannot be combined with lines, offset, since_s or follow", "leave out error, or the others"
    ),
    "log.no_error": Message(
        "the output of job {job} has no traceback and no error line", "run `tarmac log -n 50 {job}` to see its end"
    ),
    "log.silent": Message(
        "cannot read the output of job {job}: {error}",
        "check the disk or the server of this file system; other commands are not affected",
    ),
    "log.never_ran": Message(
        "job {job} never ran, so it has no output", "run `tarmac show {job}` to see what happened to it"
    ),
    "log.unreadable": Message(
        "cannot read the output of job {job}: {error}", "run `tarmac show {job}` to see what happened"
    ),
    # events
    "events.not_an_event": Message(
        "Last-Event-ID {value:quoted} is not an event id", "send the id of the last event you received"
    ),
    "events.not_ids": Message("jobs={words} is not a list of ids", "separate the ids by commas: jobs=3,4"),
}
