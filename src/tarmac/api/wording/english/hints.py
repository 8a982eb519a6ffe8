"""Hints for the submitter of a job."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "hint.this_command": Message("this command"),
    "hint.named": Message("{name:quoted}"),
    "hint.one_run": Message("the last run of {what} peaked at {peak:size}"),
    "hint.runs": Message("the last {runs} runs of {what} peaked at {peak:size}"),
    "hint.too_much": Message("{runs}; you reserve {reserved:size} (--gpu-mem auto reserves {auto:size})"),
    "hint.too_little": Message("{runs}; you reserve only {reserved:size}, so the job may run out of memory"),
    "hint.whole_gpu": Message(
        "{runs}; you reserve whole GPUs of {reserved:size} (with --gpu-mem auto, other jobs can share them)"
    ),
    "hint.booked": Message("{runs}; --gpu-mem auto reserves {auto:size} on each GPU"),
    "hint.nothing_known": Message(
        "--gpu-mem auto knows no run of {what} yet, so the job gets whole GPUs; "
        "the next one reserves what this one takes"
    ),
    "hint.no_room": Message("{runs}; no GPU can share that much, so the job gets whole GPUs"),
}
