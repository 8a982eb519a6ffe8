"""Hints for the submitter of a job."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "memory.this_command": Message("this command"),
    "memory.named": Message("{name:quoted}"),
    "memory.one_run": Message("the last run of {what} took up to {peak:size}"),
    "memory.runs": Message("the last {runs} runs of {what} took up to {peak:size}"),
    "memory.too_much": Message("{runs}; you reserve {reserved:size} (--gpu-mem auto reserves {auto:size})"),
    "memory.too_little": Message("{runs}; you reserve only {reserved:size}, so the job may run out of memory"),
    "memory.whole_gpu": Message(
        "{runs}; you reserve whole GPUs of {reserved:size} (with --gpu-mem auto, other jobs can share them)"
    ),
    "memory.booked": Message("{runs}; --gpu-mem auto reserves {auto:size} on each GPU"),
    "memory.nothing_known": Message(
        "no earlier run of {what} is known, so this job gets whole GPUs; the next one reserves what this one uses"
    ),
    "memory.no_room": Message("{runs}; no GPU can share that much, so the job gets whole GPUs"),
}
