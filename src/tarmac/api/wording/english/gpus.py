"""GPUs and the processes on them."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "gpu.still_held": Message("GPU {gpu} is held by job {job}", "wait until the job has ended, then forget the GPU"),
    "gpu.present": Message(
        "GPU {index} is present; only a missing GPU can be forgotten",
        "run `tarmac gpu drain {index}` to stop using it",
    ),
}
