"""Hints about the GPU memory that a job reserves, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from tarmac.api.wording.catalogue.catalogue import say

if TYPE_CHECKING:
    from tarmac.controller.submit.hints import MemoryHint


def memory_hint_words(hint: MemoryHint) -> str:
    runs, what = _runs(hint), _what(hint)
    match hint.what:
        case "too_much":
            return say("memory.too_much", runs=runs, reserved=hint.reserved_bytes, auto=hint.auto_bytes)
        case "too_little":
            return say("memory.too_little", runs=runs, reserved=hint.reserved_bytes)
        case "whole_gpu":
            return say("memory.whole_gpu", runs=runs, reserved=hint.reserved_bytes)
        case "booked":
            return say("memory.booked", runs=runs, auto=hint.auto_bytes)
        case "nothing_known":
            return say("memory.nothing_known", what=what)
        case "no_room":
            return say("memory.no_room", runs=runs)
        case _:
            assert_never(hint.what)


def _runs(hint: MemoryHint) -> str:
    if hint.runs == 1:
        return say("memory.one_run", what=_what(hint), peak=hint.peak_bytes)
    return say("memory.runs", runs=hint.runs, what=_what(hint), peak=hint.peak_bytes)


def _what(hint: MemoryHint) -> str:
    return say("memory.this_command") if hint.name is None else say("memory.named", name=hint.name)
