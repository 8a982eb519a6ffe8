"""Jobs: which ones are meant, who may act on them, and what their state does not allow."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "job.idle": Message("idle for {seconds:in_words}"),
    "job.over_booking": Message("takes more GPU memory than it booked"),
    "jobs.more_than_one": Message("{word:quoted} means more than one job", "give a single id, or `last`"),
    "jobs.unknown": Message(
        "{jobs:plural job|jobs} {jobs} {jobs:plural does|do} not exist", "run `tarmac ls -a` to list all known jobs"
    ),
    "jobs.no_last": Message(
        "there is no last job: you have not submitted any", "run `tarmac add -- CMD…` to submit one"
    ),
    "jobs.not_an_id": Message(
        "{word:quoted} is not a job id", "give ids such as 7, ranges such as 3-7, `last` or `all`"
    ),
    "jobs.not_a_range": Message("{word:quoted} is not a range of job ids", "write the lower id first: {stop}-{start}"),
    "jobs.unknown_state": Message("{state:quoted} is not a job state", "choose one of {known}"),
    # who may
    "permission.admin_only": Message(
        "only admins may {action:select urgent=submit urgent jobs|make_urgent=make a job urgent|"
        "start=start a job out of turn|stop=stop the queue|queue=pause, drain or resume the queue|"
        "set=change settings|reserve=reserve GPUs}",
        "ask an admin; run `tarmac set admins` to see who is one",
    ),
    "permission.not_owner": Message(
        "job {job} belongs to {owner}; nothing was done", "select only your own jobs with `--owner {caller}`"
    ),
    "permission.other_queue": Message("this queue belongs to {owner}", "use your own: unset TARMAC_HOME and try again"),
}
