"""GPUs and the processes on them."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "gpu.held": Message("held by {processes}"),
    "gpu.recovering": Message("was sick ({reason}), used again in {seconds:in_words}"),
    "gpu.unreported": Message("the agent does not report it"),
    "gpu.warning": Message("job {job}: {warning}"),
    "gpu.still_held": Message("GPU {gpu} is held by job {job}", "wait until the job has ended, then forget the GPU"),
    "gpu.present": Message(
        "GPU {index} is present; only a missing GPU can be forgotten",
        "run `tarmac gpu drain {index}` to stop using it",
    ),
}
