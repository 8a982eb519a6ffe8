"""Templates with placeholders: `{lr}` stands for a value, `{{` and `}}` for braces.

A command is first split into words and then filled in, so that each value is exactly one argument.
In a shell string, each value is quoted as its place requires.
"""

from __future__ import annotations

import re
import shlex

from tarmac.errors import UserError
from tarmac.typed.option import shown
from tarmac.typed.suggest import nearest
from tarmac.typed.sweep.quoting import BEHIND_A_WORD, places_of, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_BRACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Text:
    """A text cut at its placeholders. `kept`: names that are filled in later, by others, with the same syntax."""

    __slots__ = ("_is_filled_again", "names", "parts", "source")

    def __init__(self, source: str, *, kept: Collection[str] = (), is_filled_again: bool = False) -> None:
        self.source = source
        self._is_filled_again = is_filled_again
        self.parts: list[tuple[str, str | None]] = []  # a literal text, and the name that follows it
        self.names: list[str] = []
        at, literal = 0, ""
        for found in _BRACE.finditer(source):
            literal += source[at : found.start()]
            at = found.end()
            name = found.group(1)
            if name is None:
                if len(found.group()) == 1:
                    raise _single_brace(source)
                literal += found.group() if is_filled_again else found.group()[0]
            elif name in kept:
                literal += found.group()
            else:
                self.parts.append((literal, name))
                self.names.append(name)
                literal = ""
        self.parts.append((literal + source[at:], None))

    def filled(self, row: Mapping[str, str]) -> str:
        return "".join([literal + ("" if name is None else self.escaped(row[name])) for literal, name in self.parts])

    def escaped(self, value: str) -> str:
        """Braces of a value are doubled where the text is filled in once more."""
        return value.replace("{", "{{").replace("}", "}}") if self._is_filled_again else value

    @property
    def only_name(self) -> str | None:
        """The name, if the whole text is one placeholder."""
        return self.names[0] if len(self.parts) == 2 and self.parts[0][0] == self.parts[1][0] == "" else None

    @property
    def flag_name(self) -> str | None:
        """The name in a word such as `--lr={lr}`."""
        (literal, name), *rest = self.parts
        is_flag = literal.startswith("-") and literal.endswith("=") and [part for part, _ in rest] == [""]
        return name if is_flag else None


class Command:
    """A command of words."""

    def __init__(self, source: str, *, fill: Collection[str] = ()) -> None:
        try:
            words = shlex.split(source)
        except ValueError as error:
            raise UserError(f"sweep: the command cannot be split into words: {error}", "check its quotes") from None
        if not words or not words[0]:
            raise UserError(
                "sweep: the command is empty", "give one: `tarmac sweep 'python train.py --lr {lr}' lr=1,2`"
            )
        self._words = [Text(word, kept=fill, is_filled_again=bool(fill)) for word in words]
        self.names = [name for word in self._words for name in word.names]
        self._plain = [word.filled({}) if not word.names else None for word in self._words]

    def filled(self, row: Mapping[str, str]) -> list[str]:
        """The words for one row. An empty value drops its argument, and the flag before it."""
        found: list[str] = []
        is_flag = False  # the word before is a flag of the template that takes the next word
        for word, plain in zip(self._words, self._plain, strict=True):
            if plain is not None:
                found.append(plain)
                is_flag = plain.startswith("-") and plain != "--" and "=" not in plain
                continue
            name = word.only_name or word.flag_name
            if name is not None and not row[name]:
                if is_flag and word.only_name:
                    found.pop()
            else:
                found.append(word.filled(row))
            is_flag = False
        if not found or not found[0]:
            raise UserError(f"sweep: the command is empty for {in_words(row)}", "give the program a value in every row")
        return found


class ShellString:
    """A string for the shell."""

    def __init__(self, source: str, *, fill: Collection[str] = ()) -> None:
        if not source.strip():
            raise UserError("sweep: the shell string is empty", "give one: `tarmac sweep -c './train {lr}' lr=1,2`")
        self._text = Text(source, kept=fill, is_filled_again=bool(fill))
        self.names = self._text.names
        literals = [(_undoubled(literal) if fill else literal, name) for literal, name in self._text.parts]
        self._places = places_of(literals)

    def filled(self, row: Mapping[str, str]) -> str:
        """The string for one row. An empty value drops its argument, and the flag before it."""
        parts, found = self._text.parts, ""
        for number, (literal, name) in enumerate(parts[:-1]):
            assert name is not None
            place, after = self._places[number], parts[number + 1][0]
            is_last = number + 2 == len(parts)
            if row[name] or place:
                found += literal + self._text.escaped(quoted(row[name], place, literal, after))
            elif after[:1] in tuple(BEHIND_A_WORD) or (is_last and not after):
                found += _without_flag(literal, is_first=number == 0)
            else:
                found += f"{literal}''"  # a word begins here, even if it looks like a comment without the value
        return found + parts[-1][0]


_FLAG = re.compile(r"(^|\s)-(?:[^\s=]*=|(?!-\s)[^\s=]*[ \t]+)$")  # `--lr=`, or a flag and the blanks behind it


def _without_flag(literal: str, *, is_first: bool) -> str:
    flag = _FLAG.search(literal)
    return literal[: flag.end(1)] if flag is not None and (flag.group(1) or is_first) else literal


def _undoubled(literal: str) -> str:
    return literal.replace("{{", "{").replace("}}", "}")


def refuse_unknown(names: Collection[str], used: Collection[str], columns: Collection[str] = ()) -> None:
    """Refuse placeholders that no parameter fills in, and parameters that no placeholder uses.

    `columns`: names of a file, which may contain more than the command needs.
    """
    unknown = next((name for name in used if name not in names), None)
    unused = next((name for name in names if name not in used and name not in columns), None)
    if unknown is not None:
        meant = nearest(unknown, names) or (unused if unused is not None and len(names) == 1 else None)
        known = (
            f"did you mean {{{meant}}}? Write" if meant else f"the parameters are {', '.join(names) or 'none'}; write"
        )
        raise UserError(
            f"sweep: {{{shown(unknown)}}} is not a parameter", f"{known} {{{{ and }}}} for braces in the command"
        )
    if unused is not None:
        meant = nearest(unused, used)
        known = f"did you mean {meant}? " if meant else ""
        raise UserError(
            f"sweep: parameter {unused} is not used", f"{known}write {{{unused}}} in the command or in an option"
        )


def in_words(row: Mapping[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in row.items())


def _single_brace(source: str) -> UserError:
    return UserError(
        f"sweep: {shown(source)} has a single brace", "write {{ and }} for braces, and {NAME} for a parameter"
    )
