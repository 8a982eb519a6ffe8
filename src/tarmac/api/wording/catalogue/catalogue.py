"""Every sentence the server sends to people, by key. A language is a table of templates with named placeholders.

Templates are written as for `str.format`, with the formats of `wording.formats`: "requested {asked:n GPU}". A message
missing in a language falls back to English. Other languages are read when someone first asks for them.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tarmac.api.wording.catalogue.formats import FORMATS
from tarmac.api.wording.catalogue.message import Rendered
from tarmac.api.wording.english import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tarmac.api.wording.catalogue.formats import Format
    from tarmac.api.wording.catalogue.message import Message

DEFAULT = "en"


class Placeholder(NamedTuple):
    name: str
    format: Format
    argument: str


Template: TypeAlias = tuple[str | Placeholder, ...]


@dataclass(frozen=True, kw_only=True)
class Language:
    code: str  # as in Accept-Language
    messages: Mapping[str, Message]
    formats: Mapping[str, Format] = field(default_factory=lambda: FORMATS)
    declared: Mapping[str, str] = field(default_factory=dict)  # in place of English ones that are declared elsewhere
    phrases: Mapping[str, str] = field(default_factory=dict)  # by English patterns; see `wording.phrases`
    compiled: dict[str, tuple[Template, Template | None]] = field(default_factory=dict)

    def templates(self, key: str) -> tuple[Template, Template | None]:
        """Message and hint, each parsed once."""
        if key not in self.compiled:
            message = self.messages[key]
            hint = None if message.hint is None else self._compile(message.hint)
            self.compiled[key] = (self._compile(message.text), hint)
        return self.compiled[key]

    def _compile(self, template: str) -> Template:
        parts: list[str | Placeholder] = []
        for literal, name, spec, _ in Formatter().parse(template):
            if literal:
                parts.append(literal)
            if name is not None:
                kind, _, argument = (spec or "").partition(" ")
                parts.append(Placeholder(name, self.formats[kind], argument))
        return tuple(parts)


def _chinese() -> Language:
    from tarmac.api.wording.chinese import CHINESE, DECLARED
    from tarmac.api.wording.chinese.formats import CHINESE_FORMATS
    from tarmac.api.wording.chinese.phrases import PHRASES

    return Language(code="zh", messages=CHINESE, formats=CHINESE_FORMATS, declared=DECLARED, phrases=PHRASES)


LANGUAGES: dict[str, Language] = {DEFAULT: Language(code=DEFAULT, messages=ENGLISH)}  # those in use
LATER: dict[str, Callable[[], Language]] = {"zh": _chinese}
_spoken: ContextVar[str] = ContextVar("language", default=DEFAULT)  # of the request being answered


def speak(accepted: str | None) -> None:
    """Choose the language of this request: the first that Accept-Language names and that is registered."""
    codes = [word.partition(";")[0].strip().lower() for word in (accepted or "").split(",")]
    known = (code for word in codes for code in (word, word.partition("-")[0]) if code in LANGUAGES or code in LATER)
    _spoken.set(next(known, DEFAULT))


def language() -> str:
    """The language of this request."""
    return _spoken.get()


def render(key: str, /, **values: Any) -> Rendered:
    """Message and hint in the language of this request."""
    return render_in(_spoken.get(), key, values)


def say(key: str, /, **values: Any) -> str:
    """The message alone, for sentences and clauses without a hint."""
    return _filled(_templates(_spoken.get(), key)[0], values)


def say_declared(key: str, english: str) -> str:
    """A sentence that is declared in English where it belongs, such as the meaning of a setting."""
    return find_language(_spoken.get()).declared.get(key, english)


def render_in(language: str, key: str, values: Mapping[str, Any]) -> Rendered:
    message, hint = _templates(language, key)
    return Rendered(key, _filled(message, values), None if hint is None else _filled(hint, values))


def find_language(code: str) -> Language:
    if code not in LANGUAGES:
        LANGUAGES[code] = LATER[code]()
    return LANGUAGES[code]


def _templates(language: str, key: str) -> tuple[Template, Template | None]:
    spoken = find_language(language)
    return spoken.templates(key) if key in spoken.messages else LANGUAGES[DEFAULT].templates(key)


def _filled(template: Template, values: Mapping[str, Any]) -> str:
    return "".join(
        [part if isinstance(part, str) else part.format(values[part.name], part.argument) for part in template]
    )
