"""The queue as a whole, its limits and its reservations."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "notice.empty": Message("the notice is empty", "give a text, or remove the notice with `tarmac notice --clear`"),
    "queue.draining": Message(
        "the queue does not accept new jobs: {is_paused:select True=paused and drained|False=drained} by {by}"
        "{reason:prefixed : }",
        "run `tarmac queue resume` to reopen it",
    ),
    "queue.not_suspended": Message(
        "the jobs of {owner} are not suspended", "run `tarmac status` to see whose jobs are"
    ),
    "queue.stop_needs_requeue": Message(
        "running jobs must be requeued or killed when the queue stops",
        'set "requeue": true to requeue them, or end them with POST /jobs/kill',
    ),
    # limits
    "limit.at_submit": Message(
        "{reached}; nothing was queued", "wait until some have started; run `tarmac set` to see the limits"
    ),
    "limit.too_wide_at_submit": Message(
        "{reached}; nothing was queued", "request fewer with -g; run `tarmac set` to see the limits"
    ),
    "limit.at_edit": Message("{reached}", "wait until some have started, or choose another project"),
    "limit.gpus_per_job": Message("requested {asked:n GPU}; {limit} is {most}: {over} too many"),
    "limit.gpu_hours": Message(
        "{who} has used {used:rounded} GPU-hours in the last seven days; {limit} of {who} is {most}: "
        "{over:rounded} too many"
    ),
    "limit.gpu_hours_used_up": Message(
        "{who} has used {used:rounded} GPU-hours in the last seven days; {limit} of {who} is {most}: used up"
    ),
    "limit.gpus_running": Message(
        "{used:n GPU} of {who} {used:plural is|are} in use and {asked} more requested; {limit} of {who} is {most}: "
        "{over} too many"
    ),
    "limit.jobs_waiting": Message(
        "{used:n job}{who:prefixed  of } {used:plural is|are} waiting and {asked} more submitted; "
        "{limit}{who:prefixed  of } is {most}: {over} too many"
    ),
    # reservations
    "reservation.unknown": Message(
        "reservation {reservation} does not exist", "run `tarmac reserve` to list the reservations"
    ),
    "reservation.not_owner": Message("reservation {reservation} is for {owner}", "ask {owner} or an admin to end it"),
    "reservation.in_the_past": Message(
        "the reservation would begin in the past", "give a time in the future as `from`"
    ),
    "reservation.too_late": Message("the reservation would end after the year 9999", "give an earlier time as `from`"),
    "reservation.too_many": Message("there are already {most} reservations", "end some of them first"),
    "reservation.too_wide": Message(
        "requested {gpus:n GPU}; no machine has more than {most}", "reserve at most {most} at once"
    ),
    "reservation.no_gpus": Message(
        "cannot reserve {gpus:n GPU} for that time: the other GPUs are reserved or drained",
        "choose another time or fewer GPUs; run `tarmac reserve` to see the reservations",
    ),
    "reservation.unknown_user": Message("this machine has no user {owner}, and {owner} has no jobs"),
    "reservation.may_be_held": Message(
        "GPU {gpus:spans}: held by job {job} of {owner}, perhaps beyond the start of the reservation "
        "({end:select unknown=its end is not known|limit=its time limit ends later|history=earlier runs took longer|"
        "stop=it is being stopped and may take longer})"
    ),
}
