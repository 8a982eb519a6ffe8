"""The core's notes as sentences: a note is a message key with its values. Old databases hold sentences; these stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from tarmac.api.wording.catalogue import say
from tarmac.core.model.note import Note, note
from tarmac.shared.end_warning import parse_warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tarmac.core.fit.gpu_fit import Unsuitable
    from tarmac.core.model.job import Job
    from tarmac.core.model.plan import RestsOn


def note_words(note: Note) -> str:
    values = {name: note_words(value) if isinstance(value, Note) else value for name, value in note.values}
    return _say(note.key, values)


def _say(key: str, values: Mapping[str, Any]) -> str:
    """The sentence; for a stored note of another version, which has none here, the key and its values."""
    try:
        return say(key, **values)
    except KeyError:
        known = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items() if value is not None)
        topic = key.replace(".", ": ").replace("_", " ")
        return f"{topic} ({known})" if known else topic


def words(noted: Note | str | None) -> str | None:
    """A person's own words stay as they are."""
    return note_words(noted) if isinstance(noted, Note) else noted


def status_message(job: Job) -> str | None:
    """Why a job failed, is unknown or waits again."""
    requeued = getattr(job.status, "requeued", None)
    return words(getattr(job.status, "message", None) if requeued is None else requeued.note)


def hint_words(job: Job) -> str | None:
    """What its owner can do about the reason of its end."""
    reason = getattr(job.status, "reason", None)
    match reason:
        case "oom-gpu":
            return say("hint.oom_gpu")
        case "oom-host":
            return say("hint.oom_host")
        case "killed":
            return say("hint.killed")
        case "disk-full":
            return _disk_words(job)
        case "no-cwd":
            return say("hint.no_cwd", job=job.id, cwd=job.spec.cwd)
        case "no-interpreter":
            return say("hint.no_interpreter")
        case "suspend":
            return say("hint.suspend")
        case "reboot":
            return say("hint.reboot", job=job.id)
        case "timeout":
            return say("hint.timeout")
        case _:
            return say("hint.warned", warn=job.spec.warn) if _may_be_warning(job) else None


def _disk_words(job: Job) -> str:
    """The disk of the log, if that was full at the start or at the end of the job; otherwise another one."""
    is_log = getattr(job.status, "message", None) == note("failed.full_disk")
    has_run = getattr(job.status, "started_at", None) is not None
    return say("hint.disk_full") if is_log or not has_run else say("hint.other_disk_full")


def _may_be_warning(job: Job) -> bool:
    """True if the signal that warns a job ended it, or the last command of its script."""
    if job.spec.warn is None:
        return False
    number = parse_warning(job.spec.warn).signal
    return getattr(job.status, "signal", None) == number or getattr(job.status, "exit_code", None) == 128 + number


def story_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """The stored detail of an event, with each note in it as a sentence."""
    return {name: _stored_words(value) for name, value in detail.items()}


def _stored_words(value: Any) -> Any:
    if not isinstance(value, dict) or value.keys() != {"key", "values"}:
        return value
    return _say(value["key"], {name: _stored_words(given) for name, given in value["values"]})


def basis_words(rests_on: Iterable[RestsOn]) -> str:
    """What an estimated start rests on."""
    found = set(rests_on)
    bases = {
        "stop": say("basis.stop"),
        "limit": say("basis.limit"),
        "begin": say("basis.begin"),
        "retry": say("basis.retry"),
        "history": say("basis.history"),
        "progress": say("basis.progress"),
        "reservation": say("basis.reservation"),
    }
    known = [words for basis, words in bases.items() if basis in found]
    return say("basis.several", bases=known) if known else say("basis.free_now")


def unsuitable_words(reason: Unsuitable) -> str:
    match reason.condition:
        case "pin":
            return say("unsuitable.pin")
        case "exclude":
            return say("unsuitable.exclude")
        case "model":
            return say("unsuitable.model", model=reason.model, asked_models=reason.asked_models)
        case "mig":
            return say("unsuitable.mig")
        case "size":
            return say("unsuitable.size")
        case "kept":
            return say("unsuitable.kept")
        case _:
            assert_never(reason.condition)
