"""The core's notes as sentences: a note is a message key with its values. Old databases hold sentences; these stay."""

from __future__ import annotations

from contextvars import Context
from typing import TYPE_CHECKING, Any, assert_never

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.api.wording.catalogue.formats import signal_name
from tarmac.api.wording.phrases import in_own_words
from tarmac.core.model.note import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tarmac.core.fit.gpu_fit import Unsuitable
    from tarmac.core.model.job import Job
    from tarmac.core.model.plan import RestsOn
    from tarmac.core.model.status import Requeue


BY_SIGNAL = frozenset({"signal", "killed"})  # reasons whose detail is a signal
OF_ATTEMPTS = frozenset({"preempted", "time_limit", "failed"})  # of a requeue; the others name a person


def note_words(note: Note) -> str:
    values = {name: note_words(value) if isinstance(value, Note) else value for name, value in note.values}
    return _say(note.key, values)


def note_in_english(note: Note) -> str:
    """For logs and commands, whose reader is not the one of the request that caused the note."""
    return Context().run(note_words, note)


def _say(key: str, values: Mapping[str, Any]) -> str:
    """The sentence; for a stored note of another version, which has none here, the key and its values."""
    if values.get("reason") in BY_SIGNAL and isinstance(values.get("detail"), int):
        values = {**values, "detail": signal_name(values["detail"])}
    try:
        return say(key, **values)
    except KeyError:
        known = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items() if value is not None)
        topic = key.replace(".", ": ").replace("_", " ")
        return f"{topic} ({known})" if known else topic


def words(noted: Note | str | None) -> str | None:
    """A person's own words stay as they are."""
    return note_words(noted) if isinstance(noted, Note) else noted


def ending_words(noted: Note | str | None) -> str | None:
    """What the core or the agent says about the end of an attempt."""
    return note_words(noted) if isinstance(noted, Note) else in_own_words(noted)


def status_message(job: Job) -> str | None:
    """Why a job failed, is unknown or waits again."""
    requeued: Requeue | None = getattr(job.status, "requeued", None)
    if requeued is None:
        return ending_words(getattr(job.status, "message", None))
    what = note_words(requeued.note)
    return say("requeue.attempt", attempt=job.attempt, what=what) if requeued.why in OF_ATTEMPTS else what


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
