"""What is wrong with a submit: the command, its directory, its output, its GPUs, its dependencies."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "form.mistake": Message("{problem}", "correct it, and submit the form again"),
    "submit.no_command": Message(
        "a job needs a command", "give either `command` (a list of words) or `shell` (a string)"
    ),
    "submit.command_empty": Message("the command is empty", "name the program to run: tarmac add -- python train.py"),
    "submit.log_and_streams": Message(
        "log cannot be combined with stdout or stderr",
        "use log to merge both streams, or stdout and stderr to separate them",
    ),
    "submit.cwd_not_absolute": Message("cwd {path} is not absolute", "give an absolute path"),
    "submit.cwd_not_a_directory": Message(
        "cwd {path} is not a directory", "create it first, or choose another one with --cwd"
    ),
    "submit.env_malformed": Message("env[{number}] is not NAME=VALUE", "write it as NAME=VALUE"),
    "submit.param_name": Message(
        "{name:quoted} cannot be the name of a parameter", "use letters, digits and underscores"
    ),
    "submit.env_bad_name": Message(
        "env[{number}] does not begin with the name of a variable", "use letters, digits and underscores"
    ),
    "submit.environment_bad_name": Message(
        "environment has a variable with an empty name, or with = in its name", "leave it out"
    ),
    "submit.env_reserved": Message(
        "{name} cannot be set, because Tarmac sets it for each job",
        "choose GPUs with --gpus-on, a directory with --cwd",
    ),
    "submit.venv_and_conda": Message("--venv and --conda exclude each other", "leave out one of them"),
    "submit.venv_unknown": Message(
        "{path} is not a virtual environment",
        "create it with `python3 -m venv {path}`, or give the directory of another",
    ),
    "submit.venv_unknown_near": Message("{path} is not a virtual environment", "did you mean --venv {nearest}?"),
    "submit.conda_unknown": Message(
        "no conda environment is named {name}", "give the directory of the environment: --conda /opt/conda/envs/NAME"
    ),
    "submit.conda_unknown_near": Message(
        "no conda environment is named {name}", "did you mean --conda {nearest}? Known environments: {known:join , }"
    ),
    "submit.fill_unknown": Message(
        "unknown placeholder {placeholder} in {text:quoted}",
        "it fills in {{gpus}}, {{gpu_count}}, {{job_id}} and {{port}}; to keep braces, double them: {{{placeholder}}}",
    ),
    "submit.fill_single_brace": Message(
        "{text:quoted} contains a single brace, which --fill cannot read", "double it to keep it, or leave out --fill"
    ),
    "submit.signal_uncatchable": Message(
        "no process can catch signal {signal}", "use --grace 0 (grace_s: 0) to have the job killed at once"
    ),
    "submit.no_retries": Message(
        "{flag} needs retries, but this job has none", "say how often to run it again: --retry 3"
    ),
    "submit.requeue_without_limit": Message("--requeue applies at the time limit, but the job has none", "add --time"),
    "submit.oom_contradiction": Message(
        "--on-oom fail contradicts --retry-on oom", "leave out one of them, or use --on-oom retry"
    ),
    "submit.warn_malformed": Message("signal {text} is not a warning: {trouble}"),
    "submit.warn_without_limit": Message(
        "signal {text} warns before the time limit, but the job has none",
        "add --time; to choose the signal that stops the job, leave out the @ and what follows it",
    ),
    "submit.warn_too_early": Message(
        "signal {text} would come before the start of a job with a time limit of {limit_s:in_words}",
        "warn later, or raise the limit with --time",
    ),
    "submit.max_running_without_group": Message(
        "max_running applies to arrays, sweeps and batches only", 'leave it out, or set "group": {{"kind": "array"}}'
    ),
    "submit.path_placeholder": Message(
        "{path}: {placeholder:quoted} is not known for this job",
        "write {known:or}; double other braces to keep them",
    ),
    "submit.path_single_brace": Message("{path} contains a single brace", "double it to keep it"),
    "submit.ids_moved": Message(
        "the ids of the jobs changed too often while their output files were checked", "try again"
    ),
    "group.bad_indices": Message("indices {text:quoted}: {trouble}"),
    "group.indices_of_other": Message("a {kind} has no indices", 'leave them out, or set "kind": "array"'),
    "group.indices_of_many": Message(
        "an array with indices takes one job, not {jobs}", "send the job once; it is queued for each index"
    ),
    "submit.same_output": Message("stdout and stderr are the same file: {path}", "use --log to merge them"),
    "submit.log_not_absolute": Message("log path {path} is not absolute", "give an absolute path"),
    "submit.log_no_directory": Message(
        "log path {path}: directory {directory} does not exist", "run `mkdir -p {directory}`"
    ),
    "submit.log_is_a_directory": Message("log path {path} is a directory", "name a file in it"),
    "submit.log_not_writable": Message(
        "log path {path}: directory {directory} is not writable", "choose another directory"
    ),
    "submit.log_reserved": Message(
        "log path {path} is reserved for Tarmac's own files", "choose a file outside of Tarmac's directories"
    ),
    "submit.log_taken": Message(
        "job {job} writes to {path} and has not ended",
        "choose another file; jobs share a file only if all of them use --append",
    ),
    "submit.log_repeated": Message(
        "several of these jobs would write to the same file, {path}",
        "leave it out (`tarmac log ID` shows the output of each), or add --append to share the file",
    ),
    "submit.log_exists": Message(
        "{path} already exists and is not overwritten", "add --append, or choose another name"
    ),
    "submit.text_too_long": Message(
        "an argument or environment variable has {size} bytes; Linux accepts at most {most}",
        "write it to a file and pass the file's name to the job",
    ),
    "submit.texts_too_long": Message(
        "the arguments or the environment exceed {most} bytes in total",
        "write them to a file and pass the file's name to the job",
    ),
    "submit.nul": Message(
        "{field:select labels=name, project and tags} must not contain a NUL character",
        "remove it; no program can receive one",
    ),
    "submit.pinned_count": Message(
        "requested {gpus:n GPU}, but gpus_on names {pinned}", "leave out -g, or name as many GPUs as requested"
    ),
    "submit.pinned_and_excluded": Message("the same GPU is both pinned and excluded", "remove it from --exclude-gpus"),
    "submit.two_shares": Message(
        "gpu_memory_bytes and gpu_share cannot be combined", "give either --gpu-mem or --gpu-share"
    ),
    "submit.share_of_no_gpu": Message(
        "requested a part of a GPU, but no GPU", "leave out -g, or leave out --gpu-mem and --gpu-share"
    ),
    # dependencies
    "after.unknown_outcome": Message(
        "after {word}: {outcome:quoted} is not an outcome", "write ID, ID:ok, ID:any or ID:fail, such as 7:any"
    ),
    "after.unknown_sibling": Message("after {word}: this submit has no such job", "use #0{last:prefixed  to #}"),
    "after.no_siblings": Message("after {word}: this request submits no jobs", "give the id of a job"),
    "after.unknown_job": Message("after {job}: job {job} does not exist", "run `tarmac ls -a` to list all known jobs"),
    "after.opposites": Message(
        "after {job}:ok and {job}:fail: a job cannot end both ways", "use {job}:any to wait for either outcome"
    ),
    "after.circle": Message(
        "these jobs would wait for each other: {circle:join  after }", "remove one of them from `after`"
    ),
    # GPUs by name
    "gpu.not_known_yet": Message(
        "{nodes:plural the GPUs of this machine are not known yet|no node has reported its GPUs yet}",
        "try again in a moment",
    ),
    "gpu.ambiguous": Message("{word} matches {matches} GPUs", "give more of the UUID: {uuids}"),
    "gpu.unknown_uuid": Message(
        "no GPU has a UUID that starts with {word}", "run `tarmac gpus --json` to see the UUIDs"
    ),
    "gpu.unknown": Message(
        "GPU {word} does not exist", "choose one of these: {known:list none}; run `tarmac gpus` to see them"
    ),
    # what no machine can ever meet
    "infeasible.no_gpus": Message(
        "requested {asked:n GPU}; {nodes:plural this machine has none|no node has any} that Tarmac can see",
        "use -g 0 to request none; run `tarmac gpus` to list them",
    ),
    "infeasible.too_few_gpus": Message(
        "requested {asked:n GPU}; {nodes:plural this machine has|no node has enough, the closest has} {have}",
        "request at most {have} with -g, or none with -g 0; run `tarmac gpus` to list them",
    ),
    "submit.fetch_path": Message(
        "--fetch {path}: not a path in the directory of the job",
        "give it relative to the directory, without ..: results",
    ),
    "infeasible.files_missing": Message(
        "{nodes:plural this machine lacks|every node lacks} a file or directory that the job needs",
        "create it there and run `tarmac edit ID --cwd DIR`, or use --snapshot",
    ),
    "submit.pinned_on_several_nodes": Message(
        "--gpus-on names GPUs of one node, but --nodes asks for several",
        "leave out one of the two; --gpu-model and --min-gpu-mem choose GPUs on every node",
    ),
    "infeasible.too_few_nodes": Message(
        "requested {asked:n node}; {have} of {of} {have:plural has|have} what the job asks for on each node",
        "request fewer with --nodes; run `tarmac gpus` to list the GPUs of each node",
    ),
    "infeasible.pinned_gpus_gone": Message(
        "{gpus:plural GPU|GPUs} {gpus}, which the job is pinned to, {gpus:plural is|are} gone",
        "run `tarmac gpus` to list the GPUs",
    ),
    "infeasible.host_memory": Message(
        "requested {asked} of host memory; {nodes:plural this machine has|no node has enough, the closest has} {total}",
        "request less with --mem",
    ),
    "infeasible.cpus": Message(
        "requested {asked:n CPU core}; {nodes:plural this machine has|no node has enough, the closest has} {total}",
        "request fewer with --cpus",
    ),
    "infeasible.excluded": Message(
        "requested {asked:n GPU}, but all {of} are excluded", "remove some from --exclude-gpus"
    ),
    "infeasible.mostly_excluded": Message(
        "requested {asked:n GPU}, but all but {have} of {of} are excluded", "remove some from --exclude-gpus"
    ),
    "infeasible.model": Message(
        "requested {asked:n GPU} of model {models:or}; "
        "{nodes:plural this machine has|no node has enough, the closest has} {have:select 0=none}{rest}",
        "run `tarmac gpus` to see the model of each; request fewer, or leave out --gpu-model",
    ),
    "infeasible.mig": Message(
        "requested {asked:n GPU}, but a job can use only one MIG instance", "submit one job per instance"
    ),
    "infeasible.mig_and_whole": Message(
        "requested {asked:n GPU}, but a job can use only one MIG instance; "
        "{nodes:plural this machine has|no node has enough, the closest has} {have} whole {have:plural GPU|GPUs}{rest}",
        "submit one job per instance",
    ),
    "infeasible.gpus_too_small": Message(
        "requested {asked:n GPU} with {size:size} of memory; "
        "{nodes:plural this machine has|no node has enough, the closest has} {have}{rest}",
        "run `tarmac gpus` to see the memory of each; request less",
    ),
    "infeasible.every_gpu_too_small": Message(
        "requested {size} of memory on a GPU; the largest {nodes:plural |of the closest node }has {most}{rest}",
        "run `tarmac gpus` to see the memory of each; request less",
    ),
    "infeasible.too_little_bookable": Message(
        "requested {asked:n GPU} with {size:size} to book; "
        "{nodes:plural this machine has|no node has enough, the closest has} {have}{rest}, "
        "as keep_gpu_memory reserves a part of each",
        "request less, or lower it with `tarmac set keep_gpu_memory`",
    ),
    "infeasible.nowhere_bookable": Message(
        "requested {size} of a GPU; at most {most} can be booked{nodes:plural | on the closest node}, "
        "as keep_gpu_memory reserves the rest",
        "request less, or lower it with `tarmac set keep_gpu_memory`",
    ),
    "infeasible.pinned": Message(
        "requested {asked:n GPU}; of the GPUs that the job is pinned to, "
        "{have:select 0=none} {have:plural is|are} suitable{rest}",
        "name as many with --gpus-on",
    ),
    "infeasible.on_chosen_nodes": Message("{text} (counting only {nodes}, as --node and --exclude-node say)"),
    "infeasible.no_node_left": Message(
        "no node is left that the job may run on{named:prefixed : only on }{excluded:prefixed , not on }",
        "change --node or --exclude-node; run `tarmac node ls` to list the nodes",
    ),
    "infeasible.only_watched": Message(
        "only {nodes:or} could run it, but Tarmac only watches {nodes:plural this node|these nodes} and starts no jobs "
        "there",
        "run `tarmac node ls` to see which nodes take jobs",
    ),
    "submit.node_unknown": Message(
        "unknown node {node}{near:prefixed ; did you mean }", "choose one of these: {known:list none}"
    ),
    "size.bytes": Message("{count} bytes"),
    "size.exactly": Message("{size} ({count} bytes)"),
    "infeasible.without_excluded": Message(" (excluded ones not counted)"),
}
