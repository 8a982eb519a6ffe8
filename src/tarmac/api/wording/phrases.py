"""Sentences that are formed in English outside of the catalogue: by readers of options, by agents, in old databases.

They are recognized by their pattern and said in the language of the request. An unknown one stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import Formatter
from typing import NamedTuple, overload

from tarmac.api.wording.catalogue.catalogue import find_language, language
from tarmac.shared.job_options import JOB_OPTIONS

LONGEST = 500  # characters; longer texts are not sentences
DEEPEST = 3  # sentences inside of each other; the text of a user could go on for ever


class Phrase(NamedTuple):
    pattern: re.Pattern[str]
    nested: frozenset[int]  # the values that are sentences themselves
    translation: str

    def translated(self, code: str, text: str, depth: int) -> str | None:
        """None if the text is another sentence."""
        if (found := self.pattern.fullmatch(text)) is None:
            return None
        values = list(found.groups())
        for place in self.nested:
            values[place] = _translated(code, values[place], depth + 1)
        is_known = not self.nested or any(values[place] != found[place + 1] for place in self.nested)
        return self.translation.format(*values) if is_known else None


@overload
def in_own_words(text: str) -> str: ...
@overload
def in_own_words(text: None) -> None: ...
def in_own_words(text: str | None) -> str | None:
    """The sentence in the language of this request."""
    return None if text is None else _translated(language(), text, 0)


@lru_cache(maxsize=512)
def _translated(code: str, text: str, depth: int) -> str:
    if len(text) > LONGEST or depth > DEEPEST:
        return text
    if (help_text := _helps(code).get(text)) is not None:
        return help_text
    found = (phrase.translated(code, text, depth) for phrase in _phrases(code))
    return next((words for words in found if words is not None), text)


@lru_cache(maxsize=8)
def _phrases(code: str) -> list[Phrase]:
    """The most telling ones first. Forms leave out the verb of a command line."""
    known = dict(find_language(code).phrases)
    known |= {english.removeprefix("sweep: "): known[english].removeprefix("sweep：") for english in known}
    known |= {
        english.removeprefix("{}: "): _without_first(known[english])
        for english in known
        if english.startswith("{}: ") and english != "{}: {text}" and known[english].startswith("{0}：")
    }
    return [_compiled(english, known[english]) for english in sorted(known, key=_rank, reverse=True)]


def _without_first(translation: str) -> str:
    rest = translation.removeprefix("{0}：")
    return re.sub(r"\{(\d)\}", lambda found: f"{{{int(found[1]) - 1}}}", rest)


@lru_cache(maxsize=8)
def _helps(code: str) -> dict[str, str]:
    """The help of an option is the hint about a wrong value of it."""
    declared = find_language(code).declared
    return {one.help: declared[f"option.{one.name}"] for one in JOB_OPTIONS if f"option.{one.name}" in declared}


def _rank(english: str) -> tuple[bool, bool, int]:
    """A phrase that begins with a value could begin anywhere."""
    fixed = sum(len(literal) for literal, *_ in Formatter().parse(english))
    return not english.startswith("{"), "{text}" in english, fixed


def _compiled(english: str, translation: str) -> Phrase:
    pattern, names = "", list[str]()
    for literal, name, *_ in Formatter().parse(english):
        pattern += re.escape(literal)
        if name is not None:
            names.append(name)
            pattern += "(.*?)"
    nested = frozenset(place for place, name in enumerate(names) if name == "text")
    return Phrase(re.compile(pattern, re.DOTALL), nested, translation)
