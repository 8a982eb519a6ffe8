"""The headings under which `--help` and docs/cli.md list the options of a job. Only help loads this."""

from __future__ import annotations

OPTION_GROUPS = (
    ("Many jobs", ("--batch", "--batch-format", "--dry-run")),
    ("What to run", ("--shell", "--cwd", "--fill", "--array", "--max-running")),
    ("Which code", ("--snapshot", "--no-snapshot", "--link")),
    ("Environment", ("--env", "--env-file", "--no-env", "--venv", "--conda")),
    ("Names", ("--name", "--tag", "--project", "--note")),
    (
        "GPUs",
        (
            "--gpus", "--nodes", "--gpu-mem", "--gpu-share", "--gpu-model", "--min-gpu-mem", "--gpus-on",
            "--exclude-gpus", "--idle-below",
        ),
    ),
    ("Nodes", ("--node", "--exclude-node", "--prefer-node")),
    ("CPUs and memory of the host", ("--cpus", "--mem", "--nice")),
    ("When it starts", ("--priority", "--tier", "--after", "--begin", "--hold", "--draft")),
    ("When it must stop", ("--time", "--signal", "--requeue", "--grace")),
    ("If it fails", ("--retry", "--retry-on", "--retry-delay", "--on-oom")),
    ("Output", ("--log", "--stdout", "--stderr", "--append", "--fetch")),
    ("Notifications", ("--notify", "--on")),
    ("Which jobs", ("--state", "--owner")),
    ("Other options", ("--json", "--help")),
)  # fmt: skip
