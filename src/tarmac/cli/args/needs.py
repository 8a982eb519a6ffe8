"""What a job needs: its GPUs, or parts of them, and host memory and cores.

What contradicts itself is refused here, without asking a controller.
"""

from __future__ import annotations

from tarmac.cli.args.values import count, models, named_gpus, percent, positive, share, size
from tarmac.cli.parser import Option
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tarmac.cli.parser import Values

GPUS = Option("--gpus", "-g", "how many GPUs it needs (default 1; 0 for none)", "N", count)
NEEDS = (
    Option("--gpu-mem", None, "share each GPU, booking so much of its memory: 8G", "SIZE", size),
    Option("--gpu-share", None, "share each GPU, booking that part of it: 0.5", "PART", share),
    Option("--gpu-model", None, "only GPUs so called: a100, 'a100|h100'", "NAMES", models),
    Option("--min-gpu-mem", None, "only GPUs with at least so much memory", "SIZE", size),
    Option("--gpus-on", None, "on these GPUs and no others, by index or UUID: 0,2", "LIST", named_gpus),
    Option("--exclude-gpus", None, "not on these GPUs, by index or UUID: 1,3", "LIST", named_gpus),
    Option("--idle-below", None, "only GPUs that are less busy than this, in per cent: 20%", "PERCENT", percent),
    Option("--mem", None, "book so much of the host's memory: 16G", "SIZE", size),
    Option("--cpus", None, "book so many of the host's cores", "N", positive),
)
# How each is called in a submit; those above the line make no sense without a GPU.
OF_GPUS = {
    "gpu_mem": "gpu_memory_bytes", "gpu_share": "gpu_share", "gpu_model": "gpu_models",
    "min_gpu_mem": "min_gpu_memory_bytes", "gpus_on": "gpus_on", "exclude_gpus": "exclude_gpus",
    "idle_below": "idle_below",
}  # fmt: skip
OF_HOST = {"mem": "memory_bytes", "cpus": "cpus"}


def needs_of(verb: str, values: Values) -> dict[str, Any]:
    """The part of a submit that was asked for, checked."""
    asked = [name for name in OF_GPUS if values[name] is not None]
    if values["gpus"] == 0 and asked:
        flag = "--" + asked[0].replace("_", "-")
        raise UserError(f"{verb}: {flag} is about GPUs, but none is asked for", f"leave out {flag}, or -g 0")
    if values["gpu_mem"] is not None and values["gpu_share"] is not None:
        raise UserError(
            f"{verb}: --gpu-mem and --gpu-share both say how much of a GPU is booked",
            "--gpu-mem if you know how much memory it takes, --gpu-share if not",
        )
    _check_gpus(verb, values)
    named = {**OF_GPUS, **OF_HOST}
    return {field: values[name] for name, field in named.items() if values[name] is not None}


def _check_gpus(verb: str, values: Values) -> None:
    pinned, excluded, asked = values["gpus_on"], values["exclude_gpus"], values["gpus"]
    if pinned is None:
        return
    if asked not in {None, len(pinned)}:
        names = ",".join(map(str, pinned))
        raise UserError(
            f"{verb}: -g {asked}, but --gpus-on {names} are {len(pinned)}",
            f"leave out -g, or `--exclude-gpus` those that it may not use to choose {asked} from the rest",
        )
    both = [index for index in pinned if index in (excluded or ())]
    if both:
        raise UserError(
            f"{verb}: GPU {both[0]} stands in --gpus-on and in --exclude-gpus", "leave it out of one of them"
        )
