"""Notifications in words: one event in full, several as a digest. Also why a message could not be sent."""

from __future__ import annotations

import socket
from collections import Counter
from contextvars import Context
from typing import TYPE_CHECKING, Any, assert_never

import msgspec

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.catalogue.formats import signal_name
from tarmac.api.wording.notes import BY_SIGNAL, story_detail
from tarmac.api.wording.times import date_and_clock
from tarmac.controller.notify.notifications import MOST_IN_FULL
from tarmac.controller.notify.sender import Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tarmac.controller.notify.send_process import Problem
    from tarmac.store.outbox import Waiting

MOST_LISTED = 50
LONGEST_LINE = 400  # characters
ENDS = frozenset({"end", "fail", "oom"})
WARNINGS = frozenset({"idle", "gpu-idle", "gpu-drained", "node-drained", "owner-suspended"})


class NotificationWords:
    def __init__(self, host: str | None = None) -> None:
        self._host = host or socket.gethostname()

    def message(self, waiting: Sequence[Waiting], last_lines: Mapping[str, str]) -> Message:
        """One message about all these events, in English: a request in another language may have caused it."""
        return Context().run(self._message, waiting, last_lines)

    def _message(self, waiting: Sequence[Waiting], last_lines: Mapping[str, str]) -> Message:
        waiting = _each_once(waiting)
        kind = _kind(waiting)
        if len(waiting) == 1:
            first = waiting[0]
            return Message(self._title(headline(first)), _lines(_in_full(first, last_lines)), kind)
        if len(waiting) <= MOST_IN_FULL:
            blocks = [_lines([headline(one), *_in_full(one, last_lines)]) for one in waiting]
            return Message(self._title(_summary(waiting)), "\n\n".join(blocks), kind)
        failed = {one.job for one in waiting if not _is_fine(one)}
        ordered = sorted(waiting, key=lambda one: one.job not in failed)  # of each job, still in the order of time
        lines = [_brief(one) for one in ordered[:MOST_LISTED]]
        if len(ordered) > MOST_LISTED:
            lines.append(say("line.more", more=len(ordered) - MOST_LISTED))
        return Message(self._title(_summary(waiting)), _lines(lines), kind)

    def test_message(self, target: str, by: str) -> Message:
        return Message(self._title(say("notify.test_title")), say("notify.test_body", by=by, target=target), "info")

    def _title(self, title: str) -> str:
        return say("notify.on_host", title=one_line(title), host=self._host)


def one_line(text: str) -> str:
    """Without line breaks and control characters: the name of a job must not add a header to a mail."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return words if len(words) <= LONGEST_LINE else f"{words[: LONGEST_LINE - 1]}…"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(map(one_line, lines))


def stored_problem_words(error: str | None) -> str | None:
    return None if error is None else problem_words(msgspec.json.decode(error))


def problem_words(problem: Problem) -> str:
    """Why a message could not be sent."""
    text = problem["text"]
    match problem["kind"]:
        case "failed":
            return say("send.failed", text=text)
        case "timeout":
            return say("send.timeout", text=text)
        case "bad_url":
            return say("send.bad_url", text=text)
        case "not_installed":
            return say("send.not_installed")
        case "no_target":
            return say("send.no_target")
        case "broken":
            return say("send.broken", text=text)
        case "unreadable":
            return say("send.unreadable", text=text)
        case _:
            assert_never(problem["kind"])


def headline(one: Waiting) -> str:
    """`job 7 (train) failed: exit code 1`."""
    detail = story_detail(one.detail)
    match one.event:
        case "queue-empty":
            return say("event.queue_empty")
        case "gpu-idle":
            nodes = {gpu["node"] for gpu in detail["gpus"]}
            gpus = [gpu["index"] if len(nodes) == 1 else f"{gpu['node']}:{gpu['index']}" for gpu in detail["gpus"]]
            return say("event.gpu_idle", gpus=gpus, idle_s=detail["idle_s"], waiting=detail["waiting"])
        case _ if one.job is None:
            return str(detail.get("message") or one.event)
    job = say("event.job", job=one.job, name=detail.get("name"), index=detail.get("index"))
    match one.event:
        case "start":
            return say("event.start", job=job)
        case "idle":
            return say("event.idle", job=job, warning=detail.get("message"))
        case _ if detail.get("is_retried"):
            return say("event.retry", job=job, reason=_reason(detail))
    match detail["state"]:
        case "succeeded":
            return say("event.succeeded", job=job)
        case "cancelled":
            return say("event.cancelled", job=job)
        case "failed":
            return say("event.failed", job=job, reason=_reason(detail))
        case _:
            is_known = detail.get("reason") not in {None, "lost"}
            return say("event.unknown", job=job, reason=_reason(detail) if is_known else None)


def _reason(detail: Mapping[str, Any]) -> str:
    reason = detail.get("reason")
    code = detail["exit_code"] if reason == "exit" else None
    if reason in BY_SIGNAL and detail["signal"] is not None:
        code = signal_name(detail["signal"])
    return say("event.reason", reason=reason, code=code)


def _in_full(one: Waiting, last_lines: Mapping[str, str]) -> Iterator[str]:
    detail = story_detail(one.detail)
    if one.job is not None:
        if detail.get("run_s") is not None:
            yield say("line.ran", run_s=detail["run_s"])
        if detail.get("gpus"):
            yield say("line.gpus", gpus=detail["gpus"], node=detail["node"])
        elif detail.get("node"):
            yield say("line.node", node=detail["node"])
        if (detail.get("attempt") or 0) > 1:
            yield say("line.attempt", attempt=detail["attempt"])
        if detail.get("is_retried"):
            wait = say("line.next_wait", wait_s=detail["wait_s"]) if detail["wait_s"] else ""
            yield say("line.next", attempt=detail["attempt"] + 1, wait_s=wait)
        yield say("line.owner", owner=detail["owner"])
        if detail.get("message") and one.event != "idle":
            yield say("line.message", message=detail["message"])
        if detail.get("error_line"):
            yield say("line.error", line=detail["error_line"])
        if one.token in last_lines and last_lines[one.token] != detail.get("error_line"):
            yield say("line.last", line=last_lines[one.token])
    yield say("line.at", at=date_and_clock(one.at))


def _brief(one: Waiting) -> str:
    run_s = one.detail.get("run_s")
    ran = "" if run_s is None else say("line.brief_ran", run_s=run_s)
    return say("line.brief", event=headline(one), run_s=ran, error=one.detail.get("error_line"))


def _each_once(waiting: Sequence[Waiting]) -> list[Waiting]:
    """Keep only the newest of several equal events of the queue, such as that it is empty."""
    newest = {(one.event, str(one.detail)): one for one in waiting if one.job is None}
    return [one for one in waiting if one.job is not None or newest[one.event, str(one.detail)] is one]


def _summary(waiting: Sequence[Waiting]) -> str:
    """`5 jobs ended: 2 failed, 3 succeeded`, or `5 events`."""
    if not all(one.event in ENDS and not one.detail.get("is_retried") for one in waiting):
        return say("digest.events", count=len(waiting))
    states = Counter(one.detail["state"] for one in waiting)
    parts = [say("digest.part", count=count, state=state) for state, count in sorted(states.items(), key=_worst_first)]
    return say("digest.ends", count=len(waiting), parts=parts)


def _worst_first(counted: tuple[str, int]) -> int:
    order = ("failed", "unknown", "cancelled", "succeeded")
    return order.index(counted[0]) if counted[0] in order else 0


def _is_fine(one: Waiting) -> bool:
    return one.detail.get("state") not in {"failed", "unknown"} or bool(one.detail.get("is_retried"))


def _kind(waiting: Sequence[Waiting]) -> str:
    if not all(map(_is_fine, waiting)):
        return "failure"
    if any(one.event in WARNINGS or one.detail.get("is_retried") for one in waiting):
        return "warning"
    return "success" if all(one.detail.get("state") == "succeeded" for one in waiting) else "info"
