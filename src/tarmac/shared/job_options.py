"""Every option of a job, declared once. Plain data, Python 3.8, quick to import: `tarmac add` loads it.

Derived by loop: the command line's options, the request body, the way from the request into the core's records, the
start frame, the API's view, the lines of `tarmac show` and the columns of a trace. Generated and compared by a test
(`python -m tests.shared.write_job_options`): the client's types and the tables in the docs. An option with rules of its
own (command, gpus, after, paths) leaves `record` empty and is handled by hand where it matters.

A new option takes four files: its row here, its field in core/model/job.py, its type and bounds in
controller/submit/request.py, and the module that acts on it. In typed/option_groups.py it gets a heading, under
which help lists it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Tuple

SPEC, REQUEST = "spec", "request"  # records of the core: JobSpec, and what it asks of a node
ALL_VERBS = ("add", "run", "edit")


class JobOption:
    """One row. Empty text means: not there. A test compares the values of each row with the fields declared here."""

    short = ""
    metavar = ""  # empty for a switch
    read = ""  # the function in typed/values.py, or cli/args/local_values.py, that reads the word after the flag
    is_many = False  # may be repeated
    verbs: Tuple[str, ...] = ("add", "run")
    can_clear = False  # `tarmac edit --flag none` and null in the API
    can_default = True  # allowed in [defaults], .tarmac.toml and templates
    details = ""  # more about it, for the docs only
    is_local = False  # reads files or the environment of the machine on which it is typed
    takes_gpu = False  # makes no sense for a job without GPUs
    wire = ""  # its name in a request
    type = "str"  # int, float, str, bool, texts, gpus, path, moment, memory or snapshot
    note = ""  # comment in the client's types
    record = ""  # passed from the request into the field of this name, unchanged
    applies_at_start = False  # sent to the agent with the start of the job
    view = ""  # its name in the job that the API serves; default: as on the wire; "-": none
    in_list = True  # served in lists too, not only for a single job
    is_nullable = False  # null in the API where it was not given
    default: object = None  # a value that `tarmac show` need not mention
    label = ""  # of its line in `tarmac show`
    render = "text"  # the function in cli/render/show/job_options.py that writes the line
    column = ""  # of a trace for `tarmac simulate`
    admin_values: Tuple[object, ...] = ()  # values that only an admin may set; any owner may set the others
    is_secret = False  # never shown to anybody: neither in the API nor in `tarmac show`

    def __init__(self, flag: str, help: str, **values: object) -> None:  # noqa: A002
        self.__dict__.update(values)
        self.flag = flag
        self.help = help
        self.name = flag[2:].replace("-", "_")
        self.view = "" if self.is_secret or self.view == "-" else self.view or self.wire


JOB_OPTIONS = (
    JobOption(
        "--gpus", "number of GPUs (default 1; 0 for none)", short="-g", metavar="N", read="count",
        verbs=ALL_VERBS, can_clear=True, details="With 0 the job sees no GPU and never waits for one",
        wire="gpus", type="int", note="default 1, or the number of GPUs in gpus_on", view="-",
    ),
    JobOption(
        "--nodes", "run on N nodes at once, with what is requested on each (default 1)", metavar="N", read="positive",
        verbs=ALL_VERBS, can_clear=True,
        details="All start together or none does; see [jobs on several nodes](multi-node.md)",
        wire="node_count", type="int", record=REQUEST, default=1, label="nodes", render="node_count", column="nodes",
    ),
    JobOption(
        "--name", "name the job, for you and for filters", short="-n", metavar="NAME", read="label",
        verbs=ALL_VERBS, can_clear=True,
        wire="name", record=SPEC, is_nullable=True, column="name",
    ),
    JobOption(
        "--priority", "lower numbers start first (default 10)", short="-p", metavar="N", read="integer",
        verbs=ALL_VERBS,
        wire="priority", type="int", record=SPEC, label="priority", column="priority",
    ),
    JobOption(
        "--tag", "tag the job; repeat the option for more tags", metavar="TAG", read="tag", is_many=True,
        verbs=ALL_VERBS, can_clear=True,
        wire="tags", type="texts", record=SPEC, label="tags", render="words",
    ),
    JobOption(
        "--note", "write a note about the job, for yourself and for searches", metavar="TEXT", read="note",
        verbs=ALL_VERBS, can_clear=True, can_default=False,
        wire="note", record=SPEC, in_list=False, is_nullable=True, label="note",
    ),
    JobOption(
        "--project", "project that the job belongs to", metavar="NAME", read="label",
        verbs=ALL_VERBS, can_clear=True, details="Used by filters and by limits per project",
        wire="project", record=SPEC, is_nullable=True, label="project", column="project",
    ),
    JobOption(
        "--shell", "run a shell string instead of a command", short="-c", metavar="STRING", can_default=False,
        verbs=ALL_VERBS, details="Run by `/bin/bash -c`, or by `/bin/sh -c` on a node without bash",
    ),
    JobOption(
        "--cwd", "directory to run in (default: the current one)", metavar="DIR", verbs=ALL_VERBS,
        wire="cwd", type="path", view="-",
    ),
    JobOption(
        "--snapshot", "run the code as it is now, whatever changes until the start", is_local=True,
        details="Stores the files of the git work tree, or of the directory; see [snapshots](snapshots.md). "
        "The default is the setting `snapshot`",
        wire="snapshot", type="snapshot", note="index in `snapshots` of the submit; false: none", view="-",
    ),
    JobOption(
        "--no-snapshot", "run the code as it is when the job starts", is_local=True,
        details="For one job, where the setting `snapshot` is on",
    ),
    JobOption(
        "--link", "with --snapshot: do not store these paths, link to them: data", metavar="PATHS", read="paths",
        is_many=True, is_local=True, details="Separate several with commas: `data,checkpoints`",
    ),
    JobOption(
        "--env", "set an environment variable; without =VALUE, copy yours", metavar="NAME[=VALUE]", read="variable",
        verbs=ALL_VERBS,
        is_many=True, details="Also passes on what is left out by default, such as `SLURM_JOB_ID`; see below",
        wire="env", type="texts", note="`NAME=VALUE` each", is_secret=True,
    ),
    JobOption(
        "--env-file", "set the variables of a file of NAME=VALUE lines", metavar="FILE", read="env_file", is_many=True,
        verbs=ALL_VERBS, is_local=True,
        details="A later file wins over an earlier one, and `--env` over all of them; see "
        "[variables from a file](environment.md#variables-from-a-file)",
    ),
    JobOption(
        "--no-env", "pass on only basic variables, such as PATH and HOME",
        details="And those that `--env` and `--env-file` set; see [environment](environment.md#a-small-environment)",
        wire="no_env", type="bool", note="pass on only PATH, HOME and other basic variables", view="-",
    ),
    JobOption(
        "--venv", "activate the virtual environment in this directory", metavar="DIR", read="environment_path",
        verbs=ALL_VERBS, can_clear=True, details="Relative to the directory of the job; see "
        "[virtual and conda environments](environment.md#virtual-and-conda-environments)",
        wire="venv", note="a directory, relative to cwd", applies_at_start=True, in_list=False, is_nullable=True,
        label="venv",
    ),
    JobOption(
        "--conda", "activate this conda environment, by name or directory", metavar="NAME", read="environment_path",
        verbs=ALL_VERBS, can_clear=True, details="Also those of mamba and micromamba",
        wire="conda", note="a name, or the directory of the environment", applies_at_start=True, in_list=False,
        is_nullable=True, label="conda",
    ),
    JobOption(
        "--fill", "replace {gpus}, {gpu_count}, {job_id} and {port} in the command at its start", verbs=ALL_VERBS,
        details="Write `{{` and `}}` for braces",
        wire="fill", type="bool", record=SPEC, applies_at_start=True, in_list=False, default=False,
        label="fill", render="fill",
    ),
    JobOption(
        "--log", "write stdout and stderr to this file", metavar="PATH", verbs=ALL_VERBS, can_clear=True,
        wire="log", type="path", note="stdout and stderr together", view="-",
    ),
    JobOption(
        "--stdout", "write stdout to this file", metavar="PATH", verbs=ALL_VERBS, can_clear=True,
        wire="stdout", type="path", view="-",
    ),
    JobOption(
        "--stderr", "write stderr to this file", metavar="PATH", verbs=ALL_VERBS, can_clear=True,
        wire="stderr", type="path", view="-",
    ),
    JobOption(
        "--append", "append to these files if they exist", verbs=ALL_VERBS,
        details="Without it, an existing file is refused, never overwritten",
        wire="append", type="bool", record=SPEC, view="-",
    ),
    JobOption(
        "--fetch", "when the job ends on another machine, copy these files back: results", metavar="PATHS",
        read="fetched_paths", is_many=True, verbs=ALL_VERBS, can_clear=True,
        details="Files and directories in the directory of the job; separate several with commas: `results,model.pt`. "
        "See [files of jobs on other machines](node-files.md)",
        wire="fetch", type="texts", note="files and directories to copy back, relative to cwd", record=SPEC,
        in_list=False, label="fetches", render="words",
    ),
    JobOption(
        "--grace", "time between the stop signal and SIGKILL (default 10s)", metavar="DURATION", read="seconds",
        verbs=ALL_VERBS, can_clear=True,
        details="`30s`, `2m`; a bare number counts seconds. The default is the setting `grace_s`",
        wire="grace_s", type="float", in_list=False, default=10.0, label="grace", render="grace",
    ),
    JobOption(
        "--gpu-mem", "share each GPU; reserve this much of its memory: 8G, or auto", metavar="SIZE",
        read="size_or_auto", details="`8G`, `512M`. `auto` reserves what the last runs took, with a margin",
        verbs=ALL_VERBS, can_clear=True, takes_gpu=True,
        wire="gpu_memory_bytes", type="memory", note="reserved on each GPU, which is shared", record=REQUEST,
        is_nullable=True, label="shares", render="gpu_memory", column="gpu_memory",
    ),
    JobOption(
        "--gpu-share", "share each GPU; reserve this part of it: 0.5", metavar="PART", read="share",
        verbs=ALL_VERBS, can_clear=True, details="`0.5`, `50%`", takes_gpu=True,
        wire="gpu_share", type="float", note="or this part of each GPU", is_nullable=True,
        label="shares", render="gpu_share", column="gpu_share",
    ),
    JobOption(
        "--gpu-model", "use only GPUs of these models: a100, 'a100|h100'", metavar="NAMES", read="models",
        verbs=ALL_VERBS, can_clear=True, details="Any part of the model's name", takes_gpu=True,
        wire="gpu_models", type="texts", note="parts of model names; one must match",
        label="only on", render="gpu_models", column="gpu_model",
    ),
    JobOption(
        "--min-gpu-mem", "use only GPUs with at least this much memory", metavar="SIZE", read="size", takes_gpu=True,
        verbs=ALL_VERBS, can_clear=True,
        wire="min_gpu_memory_bytes", type="int", record=REQUEST, is_nullable=True,
        label="only on", render="min_gpu_memory", column="min_gpu_memory",
    ),
    JobOption(
        "--gpus-on", "use exactly these GPUs, by index or UUID: 0,2", metavar="LIST", read="named_gpus",
        verbs=ALL_VERBS, can_clear=True,
        details="`0,2`, `0-3` or UUIDs (`GPU-1a2b`); with several nodes `NODE:0-1` or `NODE:all`, all on one node. "
        "`-g` can be left out", takes_gpu=True,
        wire="gpus_on", type="gpus", note="by index, UUID or the beginning of a UUID",
        label="only on", render="gpus_on",
    ),
    JobOption(
        "--exclude-gpus", "do not use these GPUs, by index or UUID: 1,3", metavar="LIST", read="named_gpus",
        verbs=ALL_VERBS, can_clear=True, takes_gpu=True,
        wire="exclude_gpus", type="gpus", label="only on", render="exclude_gpus",
    ),
    JobOption(
        "--idle-below", "use only GPUs less busy than this: 20%", metavar="PERCENT", read="percent",
        verbs=ALL_VERBS, can_clear=True, details="Foreign processes on the GPU do not matter then", takes_gpu=True,
        wire="idle_below", type="int", note="percent of utilization", record=REQUEST, is_nullable=True,
        label="only on", render="idle_below",
    ),
    JobOption(
        "--node", "run only on these nodes: gpu01,gpu02", metavar="NAMES", read="node_names",
        verbs=ALL_VERBS, can_clear=True, details="`tarmac node ls` lists their names",
        wire="only_nodes", type="texts", note="names of nodes; empty: any", record=REQUEST,
        label="only on", render="only_nodes",
    ),
    JobOption(
        "--exclude-node", "do not run on these nodes: gpu03", metavar="NAMES", read="node_names",
        verbs=ALL_VERBS, can_clear=True,
        wire="exclude_nodes", type="texts", record=REQUEST, label="only on", render="exclude_nodes",
    ),
    JobOption(
        "--prefer-node", "try these nodes first, in this order: gpu02,gpu01", metavar="NAMES", read="node_names",
        verbs=ALL_VERBS, can_clear=True, details="If the job fits on none of them, it starts elsewhere",
        wire="prefer_nodes", type="texts", record=REQUEST, label="prefers", render="words",
    ),
    JobOption(
        "--mem", "reserve this much host memory: 16G", metavar="SIZE", read="size", verbs=ALL_VERBS, can_clear=True,
        wire="memory_bytes", type="int", note="of the host", record=REQUEST, is_nullable=True,
        label="host", render="host_memory", column="memory",
    ),
    JobOption(
        "--cpus", "reserve N CPU cores", metavar="N", read="positive", verbs=ALL_VERBS, can_clear=True,
        wire="cpus", type="int", record=REQUEST, is_nullable=True, label="host", render="cores", column="cpus",
    ),
    JobOption(
        "--time", "stop the job after this long: 6h, 90m, 1-12:00:00", metavar="DURATION", read="duration",
        verbs=ALL_VERBS, can_clear=True, details="Also `1h30m`, `2d`, `45:00` (minutes). A bare number is refused",
        wire="time_limit_s", type="float", record=SPEC, is_nullable=True,
        label="limit", render="time_limit", column="limit_s",
    ),
    JobOption(
        "--after", "start after these jobs: 7 or last (if they succeed), 7:any, 7:fail", metavar="IDS",
        read="dependencies", is_many=True, verbs=ALL_VERBS, can_clear=True, can_default=False,
        details="`7` and `7:ok` wait for success; `3-7` is a range; separate several with commas",
        wire="after", type="texts", note='"7:ok", "7:any", "7:fail"; "#0:ok" is the first job of the same submit',
    ),
    JobOption(
        "--begin", "do not start before: 22:00, 'in 3h', 'tomorrow 9:00'", metavar="TIME", read="moment",
        verbs=ALL_VERBS, can_clear=True, details="Also `'fri 18:00'` and `2027-01-15T09:00`",
        wire="begin_at", type="moment", note="seconds since 1970", record=SPEC, is_nullable=True,
        label="begins", render="begin",
    ),
    JobOption(
        "--tier", "urgent, normal, or preemptible by the other two", metavar="TIER", read="tier",
        verbs=ALL_VERBS, details="`urgent` is for admins",
        wire="tier", note="urgent, normal or preemptible", record=SPEC, default="normal", label="tier", column="tier",
        admin_values=("urgent",),
    ),
    JobOption(
        "--signal", "stop the job with this signal (default TERM); USR1@120 warns it 120 s before its time limit",
        metavar="SIGNAL", read="signal", is_many=True, verbs=ALL_VERBS, can_clear=True,
        details="`USR1`, `INT` or `10` asks the job to stop. `USR1@120` warns it 120 s before its time limit, and "
        "`B:USR1@2m` warns its main process only. Give the option twice for both. See [long jobs](long-jobs.md)",
        wire="signal", type="int", note="asks it to stop", record=SPEC, view="stop_signal", in_list=False, default=15,
        label="stop signal", render="signal_name",
    ),
    JobOption(
        "--retry", "run the job again if it fails, up to N times", metavar="N", read="retries", verbs=ALL_VERBS,
        details="Each run is an attempt of the same job. The default is the setting `retries`",
        wire="retries", type="int", note="how often it runs again; default: the setting", default=0, label="retries",
    ),
    JobOption(
        "--retry-on", "retry only after these ends: exit, signal, oom, timeout, lost, launch", metavar="LIST",
        read="retry_kinds", verbs=ALL_VERBS, details="The default is `exit,signal,oom,launch`",
        wire="retry_on", type="texts", note="exit, signal, oom, timeout, lost or launch", in_list=False,
        default=["exit", "signal", "oom", "launch"], label="retry on", render="words",
    ),
    JobOption(
        "--retry-delay", "wait this long before the first retry, and twice as long before each further one",
        metavar="DURATION", read="seconds", verbs=ALL_VERBS, can_clear=True,
        details="`30s`, `5m`; a bare number counts seconds. Without it, the first retry starts at once, the second "
        "waits for the setting `retry_delay_s`, and each further one twice as long, up to `retry_max_delay_s`",
        wire="retry_delay_s", type="float", note="before the first retry; then doubled", record=SPEC, in_list=False,
        is_nullable=True, label="retry delay", render="time_limit",
    ),
    JobOption(
        "--on-oom", "if memory runs out: fail, retry, or grow (retry with more memory)", metavar="WHAT", read="on_oom",
        verbs=ALL_VERBS, can_clear=True,
        details="`grow` requests 1.25 times the GPU memory that the job used, or a whole GPU",
        wire="on_oom", note="fail, retry or grow", record=SPEC, in_list=False, is_nullable=True, label="on oom",
    ),
    JobOption(
        "--requeue", "queue the job again when it reaches its time limit", verbs=ALL_VERBS,
        details="TARMAC_RESTART_COUNT tells the job how often it was started before",
        wire="requeue", type="bool", record=SPEC, in_list=False, default=False, label="requeue", render="requeue",
    ),
    JobOption(
        "--signal SIGNAL@TIME", "warn the job before its time limit", verbs=(),
        wire="warn", note="`USR1@120`, or `B:USR1@120` for the main process only", record=SPEC, in_list=False,
        is_nullable=True, label="warning", render="warning",
    ),
    JobOption(
        "--nice", "lower the job's CPU priority by N, from 0 to 19", metavar="N", read="nice", verbs=ALL_VERBS,
        details="Like `nice -n N`: 19 gives way to everything else on the host",
        wire="nice", type="int", note="0 to 19", record=SPEC, applies_at_start=True, in_list=False, default=0,
        label="nice",
    ),
    JobOption(
        "--notify", "send messages to these targets of the config file: mail,slack", metavar="TARGETS",
        read="targets", is_many=True, verbs=ALL_VERBS, can_clear=True,
        details="Names of the config file, or an address; see [notifications](notifications.md). "
        "`none` for no messages, if there is a default",
        wire="notify", type="texts", note="names of targets; default: those of the config file",
        label="notifies", render="words",
    ),
    JobOption(
        "--on", "when to send them: start, end, fail, oom, idle, retry (default end)", metavar="EVENTS", read="events",
        verbs=ALL_VERBS, can_clear=True, details="`end` is every end; `fail` only an end without success",
        wire="notify_on", type="texts", note="start, end, fail, oom, idle, retry", label="notifies", render="events",
    ),
    JobOption(
        "--array", "queue a copy for each index: 0-99, 1-10:2, 1,3,5, 0-99%8", metavar="INDICES", read="indices",
        verbs=("add",), can_default=False,
        details="Each copy finds its index in `TARMAC_ARRAY_INDEX`. `100` is `0-99`; `%8` is `--max-running 8`. "
        "Prints the ids as a range",
    ),
    JobOption(
        "--max-running", "run at most N jobs of the group at once", metavar="N", read="positive",
        verbs=("add", "edit"), can_clear=True,
        wire="max_running", type="int", note="of its group at once", record=SPEC, is_nullable=True,
    ),
    JobOption("--hold", "hold the job until `tarmac release`", verbs=("add",)),
    JobOption("--draft", "keep the job as a draft until `tarmac release`", verbs=("add",)),
)  # fmt: skip
BY_WIRE = {option.wire: option for option in JOB_OPTIONS if option.wire}
AT_START = tuple(option for option in JOB_OPTIONS if option.applies_at_start)


def passed_to(record: str) -> Tuple[str, ...]:
    """The fields that a request and this record have in common, under the same name and with the same meaning."""
    return tuple(option.wire for option in JOB_OPTIONS if option.record == record)
