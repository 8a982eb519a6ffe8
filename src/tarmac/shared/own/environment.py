"""The environment of Tarmac's own processes.

The controller lives for months and is started by whichever command comes first. It must not keep that command's
secrets: the environment of a process can be read in /proc, also those of the agent, the shims and the probe. Jobs get
the environment that they were submitted with, all of it.
"""

from __future__ import annotations

from typing import Dict, Mapping

_NAMES = frozenset(
    (
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
        "VIRTUAL_ENV", "CONDA_PREFIX",  # where Python finds its packages
        "LD_LIBRARY_PATH", "LD_PRELOAD",  # where drivers are found
        "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",  # for a notify_command like notify-send
    )
)  # fmt: skip
_PREFIXES = ("TARMAC_", "XDG_", "LC_", "PYTHON", "CUDA_", "NVIDIA_", "NVML_", "ROCM_", "HIP_", "HSA_", "AMD_")
# Tarmac sets these for jobs. They must not reach a controller that is started from inside a job.
_OF_A_JOB = frozenset(
    (
        "TARMAC_STATE", "TARMAC_JOB_ID", "TARMAC_ATTEMPT", "TARMAC_GPUS", "TARMAC_NODE", "TARMAC_MARK",
        "TARMAC_ARRAY_ID", "TARMAC_ARRAY_INDEX", "TARMAC_ARRAY_COUNT",
        "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
    )
)  # fmt: skip


def own_environment(environ: Mapping[str, str]) -> Dict[str, str]:
    """The variables that Tarmac's processes need."""
    return {
        name: value
        for name, value in environ.items()
        if (name in _NAMES or name.startswith(_PREFIXES)) and name not in _OF_A_JOB
    }
