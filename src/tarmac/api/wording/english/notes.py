"""What the core concluded: requeued jobs, unknown ends, warnings, notifications, what an estimate rests on."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "requeue.preempted": Message("was preempted{for_job:prefixed  for job }"),
    "requeue.attempt": Message("attempt {attempt} {what}"),
    "requeue.queue_stopped": Message("{by} stopped the queue"),
    "requeue.time_limit": Message("reached its time limit"),
    "requeue.failed": Message(
        "{reason:select exit=exited with code|signal=was ended by|oom-gpu=ran out of GPU memory|"
        "oom-host=ran out of host memory|timeout=reached its time limit|launch=could not be started|"
        "killed=was killed from outside|disk-full=failed on a full disk|"
        "no-cwd=failed because its working directory is missing|"
        "no-interpreter=failed because its interpreter is missing|"
        "suspend=failed after the machine was suspended|reboot=was ended by a reboot|lost=was lost}"
        "{detail:prefixed  }"
    ),
    "requeue.missing": Message("{node} lacks {path}, so the job runs on another node"),
    "requeue.retried": Message("{by} retried it"),
    "dependency.unmet": Message(
        "job {job} {outcome:select ok=succeeded|fail=did not succeed|None=no longer exists}, but this job was to start "
        "only if it {on:select ok=succeeded|fail=failed|any=ended}"
    ),
    "failed.no_secrets": Message("the values of secret variables are missing: {names}"),
    "failed.no_code": Message("its code cannot be copied to {node}: {trouble}"),
    "failed.no_fetch": Message("--fetch cannot be noted down in the state directory: {trouble}"),
    "failed.stopped_early": Message("stopped before it started"),
    "failed.many_secrets": Message("the values of secret variables are missing: {names} and {more} more"),
    "failed.crowded_out": Message("its GPUs on node {node} are held by a job that the database did not know"),
    "failed.stopped_part": Message("stopped before it started"),
    "unknown.adopted": Message("it ended, but only the process that started it knows its exit status"),
    "unknown.still_running": Message(
        "its shim was killed, but the job still runs: Tarmac watches its processes; its exit code will not be known"
    ),
    "unknown.gone": Message("its shim was killed, so its exit code is not known; all its processes have ended"),
    "unknown.no_record": Message("the node has no record of this attempt"),
    "unknown.taken_in": Message("taken in from node {node}; the database did not know it"),
    "unknown.node_forgotten": Message(
        "{by} said that node {node} is gone for good; nobody knows how the attempt ended"
    ),
    "drained.failures": Message(
        "the last {count:n job} on {node}, of {owners:n owner}, failed within {within_s} s of starting"
    ),
    "drained.failures_alike": Message(
        "the last {count:n job} on {node}, of {owners:n owner}, failed within {within_s} s of starting, "
        "{alike} of them with: {line}"
    ),
    "suspended.failures": Message(
        "the last {count:n job} of {owner} failed within {within_s} s of starting; the newest was job {job} "
        "({reason:select exit=exit code|signal=ended by}{detail:prefixed  })"
    ),
    "suspended.failures_alike": Message(
        "the last {count:n job} of {owner} failed within {within_s} s of starting, {alike} of them with: {line}"
    ),
    "paused.stopped": Message("stopped; the jobs that ran are first in the queue"),
    "warning.idle": Message("its GPUs did nothing for {seconds:in_words}"),
    "warning.overbooked": Message("it uses {taken_bytes:size} of GPU {gpu}, but booked {booked_bytes:size}"),
    "notice.job_warned": Message("job {job}: {warning}"),
    "notice.job_stopped": Message("job {job} is stopped: {warning}"),
    "notice.gpu_drained": Message("{gpu} on {node} is no longer used: {reason}"),
    "notice.node_drained": Message(
        "node {node} is drained, and no more jobs start there: {reason}; once the cause is fixed, run "
        "`tarmac node resume {node}`"
    ),
    "notice.owner_suspended": Message("{owner} is suspended, and no more of their jobs start: {reason}"),
    "notice.reservation_released": Message(
        "reservation {reservation} of {owner} is released: it was not used within {within_s:in_words}"
    ),
    "unsuitable.pin": Message("not one of the GPUs the job is pinned to"),
    "unsuitable.exclude": Message("excluded"),
    "unsuitable.model": Message("{model} is not {asked_models:or}"),
    "unsuitable.mig": Message("a MIG instance; a job can use only one"),
    "unsuitable.size": Message("too small"),
    "unsuitable.kept": Message("too small, because keep_gpu_memory reserves part of it"),
    "failed.full_disk": Message("the disk of its log was full when it ended"),
    "remedy.oom_gpu": Message(
        "use a smaller batch or model, request larger GPUs (--min-gpu-mem) or more memory (--gpu-mem), or let Tarmac "
        "retry with more: --on-oom grow"
    ),
    "remedy.oom_host": Message(
        "the machine had too little memory: load less data at once, use fewer data loader workers, and reserve what "
        "the job needs with --mem"
    ),
    "remedy.killed": Message(
        "a process outside Tarmac sent SIGKILL: a person with `kill -9`, a container or batch system at its memory "
        "limit, or an OOM killer in user space such as earlyoom or systemd-oomd; see their logs"
    ),
    "remedy.disk_full": Message(
        "free space on the disk of the log, or write it elsewhere with --log; `df -h` and `df -i` show what is left"
    ),
    "remedy.other_disk_full": Message(
        "the error names a full disk or quota: free space where the job writes; `df -h`, `df -i` and `quota` show "
        "what is left"
    ),
    "remedy.no_cwd": Message(
        "create {cwd} again and run `tarmac retry {job}`, or submit the job from another directory"
    ),
    "remedy.no_interpreter": Message(
        "check that the interpreter and its environment (venv, conda) still exist on the node; create them again, or "
        "submit the job with another interpreter"
    ),
    "remedy.no_secrets": Message(
        "they were in the directory `secrets` beside the database: restore it together with the database, or set them "
        "again from a shell that has them: `tarmac rerun {job} --env NAME`"
    ),
    "remedy.suspend": Message(
        "the machine was suspended while the job ran, and GPU memory may not survive that; keep it awake while jobs "
        "run, such as with `systemd-inhibit --what=sleep`"
    ),
    "remedy.reboot": Message("the machine was restarted; run `tarmac retry {job}` to run the job again"),
    "remedy.warned": Message(
        "--signal {warn} sends this signal as a warning, and it ends a process without a handler: handle it, use B: to "
        "warn only the main process, or leave the warning out"
    ),
    "remedy.timeout": Message(
        "raise its time limit with --time, or save checkpoints and continue from the last one with --requeue"
    ),
    "basis.stop": Message("jobs that are stopping"),
    "basis.limit": Message("the time limits of jobs"),
    "basis.history": Message("how long earlier jobs of this kind took"),
    "basis.progress": Message("the progress of jobs"),
    "basis.begin": Message("its begin time"),
    "basis.retry": Message("when its retry is due"),
    "basis.reservation": Message("the end of a reservation"),
    "basis.free_now": Message("what is free now"),
    "basis.several": Message("{bases:join  and }"),
}
