"""Why a job waits: its reasons, the GPUs one by one, its place and its estimated start."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "waiting.unwritten": Message("nothing can be written, and nothing starts until it can: {problem}"),
    "waiting.about_to_start": Message("nothing keeps it from starting: it is about to start"),
    "waiting.held": Message("held by {by} since {since}; run `tarmac release` to release it"),
    "waiting.draft": Message("this is a draft; run `tarmac release` to queue it"),
    "waiting.after": Message(
        "waits for {jobs:plural job|jobs} {jobs:spans} to {on:select ok=succeed|fail=fail|any=end}"
    ),
    "waiting.not_before": Message("cannot start before {at}"),
    "waiting.retry": Message(
        "the last attempt {reason}; attempt {attempt} starts in {seconds:in_words}, at {at}; "
        "run `tarmac retry {job}` to start it now"
    ),
    "waiting.suspended": Message(
        "{reason}; once the cause is fixed, {owner} or an admin can run `tarmac queue resume --owner {owner}` "
        "to let the waiting jobs start"
    ),
    "waiting.paused": Message("{by} paused the queue{since:prefixed  at }{reason:prefixed : }"),
    "waiting.array_full": Message(
        "{most:n job} of group {group} {most:plural is|are} running, the most allowed at once (max_running)"
    ),
    "waiting.held_back": Message(
        "{gpus:n GPU} {gpus:plural is|are} held back for job {job}, expected to start at ~{at}"
    ),
    "waiting.held_back_undated": Message(
        "{gpus:n GPU} {gpus:plural is|are} held back for job {job}; this job might delay its start"
    ),
    "waiting.held_back_overdue": Message(
        "{gpus:n GPU} {gpus:plural is|are} held back for job {job}, which others have passed for a long time"
    ),
    "waiting.reservation": Message(
        "the job would run into reservation {reservation} of {owner}, from {begin} to {end}"
    ),
    "waiting.behind": Message("job {job} goes first"),
    "waiting.on_node": Message("{node}: {text}"),
    "waiting.no_node": Message("no machine is reachable: the agent is not connected"),
    "waiting.node_unreachable": Message("{node} is unreachable"),
    "waiting.node_drained": Message("node {node} is drained{reason:prefixed : } (by {by})"),
    "waiting.path_missing": Message("{path} does not exist there"),
    "waiting.too_few_gpus": Message("requested {asked:n GPU}; {free} of {total} {free:plural is|are} free"),
    "waiting.too_few_gpus_held": Message(
        "requested {asked:n GPU}; {free} of {total} {free:plural is|are} free (held by {jobs:jobs})"
    ),
    "waiting.too_few_nodes": Message(
        "needs {asked:n node} at once, with {gpus:n GPU} free on each; {free} {free:plural has|have} them"
    ),
    "waiting.paused_jobs": Message(
        "{jobs:plural job|jobs} {jobs:spans} {jobs:plural is|are} paused and "
        "{jobs:plural keeps|keep} what {jobs:plural it has|they have}"
    ),
    "waiting.cpu_slots": Message("all {slots} slots for jobs without GPUs are taken (max_cpu_jobs)"),
    "waiting.host_short": Message(
        "{available:size} of host memory is available; {least:size} must stay free (keep_host_memory)"
    ),
    "waiting.host_memory": Message("requested {asked:size} of host memory; {free:size} of {total:size} is not booked"),
    "waiting.cpus": Message("requested {asked:n CPU core}; {free} of {total} {free:plural is|are} not booked"),
    # one GPU
    "gpu.node_not_allowed": Message("the job may not run on this node"),
    "gpu.node_watch_only": Message("the node is only watched; no jobs start there"),
    "gpu.node_drained": Message("the node is drained"),
    "gpu.drained": Message("drained: {reason}"),
    "gpu.drained_by": Message("drained by {by}"),
    "gpu.held_by_jobs": Message("held by {jobs:jobs}"),
    "gpu.too_little_memory": Message("{free:size} of {total:size} is free; {asked:size} requested"),
    "gpu.too_little_memory_foreign": Message(
        "{free:size} of {total:size} is free; {asked:size} requested; {foreign:size} held by {processes}"
    ),
    "gpu.reserved": Message("reserved for {owner} from {begin} to {end}"),
    "gpu.held_back": Message("held back for job {job}"),
    "gpu.free_but": Message("free, but {kept}"),
    "gpu.available": Message("available"),
    "gpu.available_shared": Message("available, shared with {jobs:jobs}"),
    "gpu.list": Message("GPU {indices:spans}"),
    "gpu.names": Message("{names}"),
    "clauses.several": Message("{clauses:join ; }"),
    "gpu.line": Message("{gpus}: {text}"),
    # a running job
    "run.holder": Message("held by job {job} of {owner}{since:prefixed  since }, {until}"),
    "run.place": Message("on {node}{gpus:prefixed  }{since:prefixed  since }, {until}"),
    "run.until_limit": Message("until {at} at the latest (time limit)"),
    "run.until_history": Message("until ~{at} (based on earlier runs)"),
    "run.until_progress": Message("until ~{at} (based on its progress)"),
    "run.until_stopped": Message("until {at} at the latest (it is being stopped)"),
    "run.paused": Message("paused by {by} since {since}, so its end is not known"),
    "run.until_unknown": Message("its end is not known"),
    # the answer to `why`
    "waiting.silent_path": Message("its start waits for {path}: that file system does not answer"),
    "wait.fetch": Message("job {job} has ended; its files are being copied from {node}"),
    "waiting.code": Message("its code is being copied to {node}: {sent:size} of {total:size}"),
    "waiting.code_compared": Message("its code is being compared with what {node} has"),
    "why.title": Message("job {job}{name:parenthesized} of {owner}: {state}{place:prefixed , }"),
    "why.next": Message("next in the queue"),
    "why.ahead": Message("{ahead:n job} ahead in the queue"),
    "why.requested": Message("requested: {request}"),
    "why.available": Message("available now: {free} of {total:n GPU}"),
    "why.held_back": Message(
        "{gpus:n GPU} of {node} {gpus:plural is|are} held back for this job, expected to start at ~{at}; "
        "jobs that might delay it do not start on {gpus:plural it|them}"
    ),
    "why.held_back_undated": Message(
        "{gpus:n GPU} of {node} {gpus:plural is|are} held back for this job; "
        "jobs that might delay it do not start on {gpus:plural it|them}"
    ),
    "why.held_back_overdue": Message(
        "{gpus:n GPU} of {node} {gpus:plural is|are} held back for this job, which others have passed for a long time; "
        "jobs that might delay it do not start on {gpus:plural it|them}"
    ),
    "why.other_owners": Message(
        "jobs of {owners} are waiting, too; the user with the fewest "
        "{policy:select balance=running GPUs|fairshare=recent GPU-hours} for their share goes first (policy {policy})"
    ),
    "why.estimate": Message("estimated start: ~{at}, based on {basis}"),
    "clock.weekdays": Message("Mon Tue Wed Thu Fri Sat Sun"),
    "why.no_estimate": Message("estimated start: unknown"),
    # what a job requested
    "requested.no_gpu": Message("no GPU"),
    "requested.gpus": Message("{gpus:n GPU}"),
    "requested.gpu_memory": Message("{size:size} of each"),
    "requested.gpu_share": Message("{share:percent} of each"),
    "requested.models": Message("model {models:or}"),
    "requested.min_gpu_memory": Message("GPUs with at least {size:size}"),
    "requested.pinned": Message("only GPU {gpus}"),
    "requested.excluded": Message("not GPU {gpus}"),
    "requested.idle_below": Message("GPUs less than {percent}% busy"),
    "requested.only_nodes": Message("only on {nodes:or}"),
    "requested.exclude_nodes": Message("not on {nodes}"),
    "requested.prefer_nodes": Message("preferably on {nodes}"),
    "requested.host_memory": Message("{size:size} of host memory"),
    "requested.nodes": Message("on {nodes:n node} at once"),
    "requested.cpus": Message("{cpus:n CPU core}"),
    "requested.no_time_limit": Message("no time limit"),
    "requested.time_limit": Message("at most {seconds:in_words}"),
    "requested.not_before": Message("not before {at}"),
    "requested.priority": Message("priority {priority}"),
    "requested.tier": Message("{tier}"),
    "requested.nice": Message("nice {nice}"),
}
