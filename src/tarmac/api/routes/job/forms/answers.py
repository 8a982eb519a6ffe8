"""Answers to a form: its mistakes, each at its field, and when its first job would start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.forms import FormAnswer, FormMistake
from tarmac.api.wording.phrases import in_own_words
from tarmac.api.wording.refusals import refusal
from tarmac.refusal import Refused, RefusedJobs, invalid
from tarmac.typed.blame import blamed
from tarmac.typed.forms.form import FieldMistake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tarmac.typed.forms.form import Reading

MOST_MISTAKES = 100  # in an answer; the others are only counted


def refuse_mistakes(answer: FormAnswer, mistakes: Sequence[FieldMistake], *, is_dry: bool) -> FormAnswer:
    """The answer with the mistakes; a submit is refused with the first of them."""
    if not is_dry:
        first = mistakes[0]
        place = "" if first.line is None or first.column is None else f"{first.line}:{first.column}: "
        raise invalid("form.mistake", problem=f"{place}{first.message}")
    return with_mistakes(answer, mistakes[:MOST_MISTAKES], len(mistakes))


def with_mistakes(answer: FormAnswer, mistakes: Sequence[FieldMistake], count: int) -> FormAnswer:
    """The answer with these mistakes, which are the first of `count`."""
    answer.more_mistakes = count - len(mistakes)
    answer.mistakes = [
        FormMistake(
            field=None if one.field is None else one.field.replace("_", "-"),
            line=one.line,
            column=one.column,
            message=in_own_words(one.message),
            hint=in_own_words(one.hint),
        )
        for one in mistakes
    ]
    return answer


def blamed_mistakes(reading: Reading | None, refused: Refused) -> tuple[list[FieldMistake], int]:
    """A refusal of the controller, at the fields that it is about: the first mistakes, and how many there are."""
    if reading is None or not reading.jobs:
        words = refusal(refused)
        names = blamed(words.key) or blamed(refused.key)
        return [FieldMistake(names[0] if names else None, words.message, words.hint)], 1
    jobs = refused.jobs if isinstance(refused, RefusedJobs) else {0: refused}
    found: dict[FieldMistake, None] = {}
    for index, one in sorted(jobs.items())[:MOST_MISTAKES]:
        words = refusal(one)
        found[reading.blame(index, blamed(words.key) or blamed(one.key), words.message, words.hint)] = None
    left_out = len(jobs) - MOST_MISTAKES if reading.batch else 0  # other jobs share the same fields
    return list(found), len(found) + max(0, left_out)
